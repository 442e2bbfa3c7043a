import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();

async function fillAccount(page: Page, key: string): Promise<void> {
  await page.getByLabel('Setup key').fill(key);
  await page.getByLabel('Panel name').fill('Harbour RP');
  await page.getByLabel('User name').fill('Kira');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm password').fill(PASSWORD);
}

/** As a person does it, in two minutes: by labels and roles, with nothing prepared. */
describeIf(why, 'from setup to stop', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let home: string;
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  let key: string;
  const finish = () => page.getByRole('button', { name: 'Finish setup' }).click();

  beforeAll(async () => {
    home = testFolder();
    panel = await startTestPanel();
    key = readFileSync(join(panel.folder, 'secrets/panel-setup.key'), 'utf8').trim();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('names all that is missing at once, each at its field', async () => {
    await finish();
    await page.getByText('Enter the setup key.').waitFor();
    const faults = () => page.locator('.fault').allTextContents();
    await expect
      .poll(faults)
      .toEqual([
        'Enter the setup key.',
        "The panel's name has 1 to 64 characters.",
        expect.stringContaining('A user name has 1 to 32 characters'),
        'A password has 12 to 256 characters.',
        'Enter the full path of the folder.',
      ]);
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe('Setup key');
    await page.getByLabel('Panel name').fill('Harbour RP');
    await expect.poll(() => page.locator('.fault').count()).toBe(4);
    await expectAccessible(page);
  });

  it('shows a password to the eye that asks for it', async () => {
    const field = page.getByLabel('Password', { exact: true });
    const shown = page.locator('.field', { has: field });
    await shown.getByRole('button', { name: 'Show what is typed' }).click();
    await expect.poll(() => field.getAttribute('type')).toBe('text');
    await shown.getByRole('button', { name: 'Hide what is typed' }).click();
    await expect.poll(() => field.getAttribute('type')).toBe('password');
  });

  it('names what is wrong beside its field, before anything is made', async () => {
    await fillAccount(page, 'a key that somebody guessed');
    await page.getByLabel('Server folder').fill('relative');
    await finish();
    await page.getByText('This is not the setup key.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe('Setup key');
    await page.getByLabel('Setup key').fill(key);
    await page.getByLabel('Confirm password').fill(`${PASSWORD}!`);
    await finish();
    await page.getByText('The two passwords are different.').waitFor();
    await page.getByLabel('Confirm password').fill(PASSWORD);
    await finish();
    await page.getByText(/^Enter the full path, such as /).waitFor();
    await expect.poll(() => page.getByLabel('Server folder').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
  });

  it('asks for a folder only where there is a server', async () => {
    for (const type of ['Standalone', 'FXServer', 'Any program']) {
      await page.getByLabel('Server type').selectOption(type);
      await page.getByLabel('Server folder').waitFor();
    }
    await page.getByLabel('Server type').selectOption('None');
    await page.getByLabel('Server folder').waitFor({ state: 'detached' });
  });

  it('prepares a server, makes the account, and signs it in', async () => {
    await page.getByLabel('Server type').selectOption('Standalone');
    await page.getByLabel('Server folder').fill(join(home, 'town'));
    await finish();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    // The API of this test has no fixed port: setup leaves a note.
    await page.getByText('Left to do by hand').waitFor();
    await expectAccessible(page);
    await page.locator('.notice', { hasText: 'Left to do by hand' }).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.getByText('Left to do by hand').count()).toBe(0);
    expect(existsSync(join(home, 'town/vfs/database.json'))).toBe(true);
    await expect.poll(() => page.title()).toBe('Overview · Harbour RP');
  });

  it('starts the server, shows that it runs, and stops it', async () => {
    const server = page.getByRole('region', { name: 'Server' });
    const state = server.getByRole('status');
    await expect.poll(() => state.textContent()).toBe('Stopped');
    await server.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => state.textContent()).toBe('Running');
    await server.getByText(`process ${panel.services.server.control.status().pid}`).waitFor();
    await expectAccessible(page);
    await server.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect.poll(() => state.textContent()).toBe('Stopped');
    await server.getByText('Stopped on request').waitFor();
    await page.reload();
    await expect.poll(() => state.textContent()).toBe('Stopped');
  });

  it('is over: the key opens nothing any more', async () => {
    const other = await browser.visit(panel.address);
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await panel.client().get('/api/setup/console')).toMatchObject({ status: 404 });
    expect(existsSync(join(panel.folder, 'secrets/panel-setup.key'))).toBe(false);
    expect(browser.complaints).toEqual([]);
  });
});

describeIf(why, 'setup where the start has preset the server', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;

  beforeAll(async () => {
    panel = await startTestPanel({ settings: { backend: 'command', serverRoot: tmpdir() } });
    browser = await TestBrowser.start();
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('asks for the account alone, and takes the key from the printed address', async () => {
    const key = readFileSync(join(panel.folder, 'secrets/panel-setup.key'), 'utf8').trim();
    const page = await browser.visit(`${panel.address}/#/?key=${key}`);
    await page.getByText(`Any program in ${tmpdir()}`).waitFor();
    await expect.poll(() => page.getByLabel('Setup key').inputValue()).toBe(key);
    await expect.poll(() => page.getByLabel('Server folder').count()).toBe(0);
    // A secret stays neither in the address nor in the history.
    expect(page.url()).not.toContain(key);
    await fillAccount(page, key);
    await page.getByRole('button', { name: 'Finish setup' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  });
});
