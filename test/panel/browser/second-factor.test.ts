import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authenticator, openAuthenticator } from '../support/authenticator.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const STEP_MS = 30_000;

describe.skipIf(why !== null)(`the second factor on pages${why === null ? '' : ` (${why})`}`, () => {
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  let codeOf: Authenticator;
  /** The clock of the panel: each code is good once, so the test goes on a step for each. */
  let ahead = 0;
  const now = () => Date.now() + ahead;

  beforeAll(async () => {
    codeOf = await openAuthenticator();
    panel = await startTestPanel({ now });
    await panel.owner();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('is set with a picture, and asked for at the next sign-in', async () => {
    await page.goto(`${panel.address}/#/settings`);
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const secret = await dialog.getByLabel('Or type this').inputValue();
    const picture = dialog.getByRole('img');
    await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    await expectAccessible(page);
    await dialog.getByLabel('Code').fill('000000');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('This code is wrong').waitFor();
    await dialog.getByLabel('Code').fill(codeOf(secret, now()));
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes' });
    expect(await codes.getByRole('listitem').count()).toBe(10);
    const recovery = String(await codes.getByRole('listitem').first().textContent());
    await expectAccessible(page);
    await codes.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('It is set. 10 recovery codes are left.').waitFor();

    const visitor = await browser.visit(panel.address);
    for (const code of [() => codeOf(secret, now()), () => recovery]) {
      ahead += 2 * STEP_MS;
      await visitor.context().clearCookies();
      await visitor.reload();
      await visitor.getByLabel('User name').fill('owner');
      await visitor.getByLabel('Password').fill(PASSWORD);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByLabel('Code').fill(code());
      await expectAccessible(visitor);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByRole('navigation', { name: 'Pages' }).waitFor();
    }
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
