import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { type Authenticator, openAuthenticator } from '../support/authenticator.ts';
import { expectAccessible, type Page, shownValue, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const STEP_MS = 30_000;

describeIf(why, 'the second factor on pages', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  let codeOf: Authenticator;
  /** The clock of the panel: each code is good once, so the test goes on a step for each. */
  let ahead: number;
  const now = () => Date.now() + ahead;

  beforeAll(async () => {
    ahead = 0;
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

  const fits = async () =>
    expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

  it('is set with a picture, and asked for at the next sign-in', async () => {
    await page.goto(`${panel.address}/#/settings`);
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const secret = await shownValue(dialog.getByLabel('Or type this'));
    const picture = dialog.getByRole('img');
    await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    await expectAccessible(page);
    await dialog.getByLabel('Code').fill('000000');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('This code is wrong').waitFor();
    await dialog.getByLabel('Code').fill(codeOf(secret, now()));
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes' });
    await expect.poll(() => codes.getByRole('listitem').count()).toBe(10);
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
      // Its reason is among the texts of the first visit.
      await visitor.getByLabel('Code').fill('000000');
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByText('This code is wrong').waitFor();
      await visitor.getByLabel('Code').fill(code());
      await expectAccessible(visitor);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
      await visitor.getByRole('navigation', { name: 'Pages' }).waitFor();
    }
  });

  it('is needed for permissions of the owner’s choice, whose holders set it up before anything else', async () => {
    await panel.account('helper', ['console.read', 'console.write']);
    await page.goto(`${panel.address}/#/settings`);
    await page.reload();
    const form = page.locator('section').filter({ hasText: 'Second factor needed for' });
    await form.getByText('0 permissions').click();
    await form.getByLabel('Send commands to the console').check();
    await fits();
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => panel.services.settings.values.secondFactorFor).toEqual(['console.write']);
    await form.getByText('1 permission').waitFor();

    const helper = await browser.visit(panel.address, { width: 390 });
    await helper.getByLabel('User name').fill('helper');
    await helper.getByLabel('Password').fill(PASSWORD);
    await helper.getByRole('button', { name: 'Sign in' }).click();
    await helper.getByText('Your permissions need a second factor').waitFor();
    await expect.poll(() => helper.getByRole('heading', { level: 1 }).textContent()).toBe('Second factor');
    await expect.poll(() => helper.getByRole('button', { name: 'Open menu' }).count()).toBe(0);
    await expectAccessible(helper);
    await helper.getByRole('button', { name: 'Set up' }).click();
    const dialog = helper.getByRole('dialog');
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const secret = await shownValue(dialog.getByLabel('Or type this'));
    await dialog.getByLabel('Code').fill(codeOf(secret, now()));
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await helper.getByRole('dialog', { name: 'Recovery codes' }).waitFor();
    await expectAccessible(helper);
    await helper.getByRole('button', { name: 'I have kept them' }).click();
    await helper.getByRole('button', { name: 'Open menu' }).waitFor();
    await helper.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('holds an account back that is signed in when its permission is chosen', async () => {
    await panel.account('reader', ['logs.read']);
    const reader = await browser.visit(panel.address);
    await signIn(reader, 'reader', PASSWORD);
    panel.services.settings.update({ secondFactorFor: ['console.write', 'logs.read'] });
    const heldBack = reader.getByText('Your permissions need a second factor');
    // The page learns of it with its next request; it may have shown the logs already.
    await reader.evaluate("location.hash = '#/settings'");
    await heldBack
      .or(reader.getByRole('heading', { name: 'Settings', exact: true }))
      .first()
      .waitFor();
    await reader.evaluate("location.hash = '#/logs'");
    await heldBack.waitFor();
    await reader.getByRole('button', { name: 'Sign out' }).click();
    await reader.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('is removed by a manager for a lost phone, never for the own account', async () => {
    await page.goto(`${panel.address}/#/accounts`);
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
    const reset = (name: string) => row(name).getByRole('button', { name: 'Remove factor' });
    await reset('helper').waitFor();
    await expect.poll(() => reset('owner').isDisabled()).toBe(true);
    await expect.poll(() => reset('reader').count()).toBe(0);
    await fits();
    await reset('helper').click();
    await page.getByRole('dialog').getByText('The password alone opens this account').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove factor' }).click();
    await page.getByText('The second factor of helper is removed.').waitFor();
    await expect.poll(() => reset('helper').count()).toBe(0);
    expect(panel.services.secondFactors.isSet(panel.services.accounts.idOf('helper'))).toBe(false);
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
