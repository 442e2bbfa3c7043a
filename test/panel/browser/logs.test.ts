import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

const why = await whyNoBrowser();

describeIf(why, 'commands, crashes and logs', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let folder: string;
  let panel: TestPanel;
  let owner: PanelClient;
  let browser: TestBrowser;
  let page: Page;

  const open = async (path: string) => {
    await page.goto(`${panel.address}/#/${path}`);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  const lines = () => page.getByRole('log');

  beforeAll(async () => {
    folder = testFolder();
    panel = await startTestPanel({
      settings: { backend: 'command', serverRoot: folder, startLine: fakeLine(), stopLine: 'quit' },
    });
    owner = await panel.owner();
    await owner.post('/api/settings', { autoStartServer: false });
    await panel.account('watcher', ['console.read']);
    expect((await owner.post('/api/server/start')).status).toBe(200);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('sends commands under the name of the account, and remembers them', async () => {
    await open('console');
    await lines()
      .getByText(/^ready \d+/)
      .waitFor();
    const command = page.getByRole('textbox', { name: 'Command' });
    await command.fill('say <b>hello</b>');
    await command.press('Enter');
    await lines().getByText('did say <b>hello</b>').waitFor();
    await lines().getByText('owner> say <b>hello</b>').waitFor();
    await expect.poll(() => command.inputValue()).toBe('');
    await command.press('ArrowUp');
    await expect.poll(() => command.inputValue()).toBe('say <b>hello</b>');
    await command.press('ArrowDown');
    await expect.poll(() => command.inputValue()).toBe('');
    await expectAccessible(page);
  });

  it('keeps a command that is typed while the one before is on its way', async () => {
    await open('console');
    // Only the field has this name: its label finds one element.
    const command = page.getByLabel('Command');
    const held = Promise.withResolvers<void>();
    await page.route('**/api/command', async (route) => {
      await held.promise;
      await route.continue();
    });
    await command.fill('first of two');
    await command.press('Enter');
    await command.fill('second of two');
    held.resolve();
    await lines().getByText('did first of two').waitFor();
    await page.getByRole('button', { name: 'Send' }).and(page.locator(':not([aria-busy="true"])')).waitFor();
    await expect.poll(() => command.inputValue()).toBe('second of two');
    await page.unroute('**/api/command');
  });

  it('keeps what was typed where the server ends meanwhile', async () => {
    await open('console');
    const command = page.getByRole('textbox', { name: 'Command' });
    await command.fill('half a command');
    await owner.post('/api/command', { text: 'crash 3' });
    await page.getByText('The server is not running, so it takes no commands.').waitFor();
    await expect.poll(() => command.inputValue()).toBe('half a command');
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });

  it('shows the record of a crash: how it ended, who did what, the last lines', async () => {
    await open('logs/crashes');
    await expectAccessible(page);
    await page.getByRole('table', { name: 'Crashes' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Exit code 3' }).waitFor();
    await page.getByText('The server ended itself. Its last lines usually say why.').waitFor();
    await page.getByRole('log', { name: 'Last lines' }).getByText('did say <b>hello</b>').waitFor();
    await page
      .getByRole('table', { name: 'Actions of accounts before the crash' })
      .getByText('owner')
      .first()
      .waitFor();
    await page.getByRole('cell', { name: 'Done' }).first().waitFor();
    await expectAccessible(page);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download record' }).click();
    expect((await download).suggestedFilename()).toMatch(/^crash-\d+\.txt$/);
  });

  it('lists the files, opens one at its end, and hands them all out', async () => {
    await open('logs');
    await expectAccessible(page);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all (ZIP)' }).click();
    expect((await download).suggestedFilename()).toBe('logs.zip');
    await page.getByRole('table', { name: 'Files' }).getByRole('link').first().click();
    await lines().getByText('did say <b>hello</b>').waitFor();
    await expect.poll(() => page.getByText('The last 2 MiB are shown.').count()).toBe(0);
    await expectAccessible(page);
    const long = 'x'.repeat(16_000);
    for (let index = 0; index < 140; index++) panel.services.logs.console.append('out', long);
    panel.services.logs.console.append('out', 'the end of a long file');
    await page.reload();
    await lines().getByText('the end of a long file').waitFor();
    await page.getByText('The last 2 MiB are shown.').waitFor();
    await page.getByRole('link', { name: 'All files' }).click();
    await page.getByRole('table', { name: 'Files' }).waitFor();
  });

  it('finds entries of all parts by source and text, page after page', async () => {
    for (let index = 1; index <= 250; index++) panel.services.logs.console.append('out', `[shop] sold bread ${index}`);
    await open('logs/diagnostics');
    const entries = page.getByRole('list', { name: 'Diagnostics' });
    await page.getByRole('combobox', { name: 'Source' }).selectOption('server');
    await page.getByRole('textbox', { name: 'Bundle or part' }).fill('shop');
    await page.getByRole('searchbox', { name: 'Search' }).fill('SOLD BREAD');
    await page.getByRole('button', { name: 'Show' }).click();
    await entries.getByText('[shop] sold bread 250').waitFor();
    await expect.poll(() => entries.getByText('[shop] sold bread 1', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Earlier entries' }).click();
    await entries.getByText('[shop] sold bread 1', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('sold bread 24');
    await page.keyboard.press('Enter');
    await page.getByText('These are the earliest entries.').waitFor();
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nobody ever said this');
    await page.keyboard.press('Enter');
    await page.getByText('No entries match.').waitFor();
  });

  it('shows new entries by themselves, repeats as one, the levels that are chosen, and requests only when asked', async () => {
    await owner.post('/api/settings', { autoStartServer: false });
    await open('logs/diagnostics');
    const entries = page.getByRole('list', { name: 'Diagnostics' });
    await entries.getByRole('listitem').first().waitFor();
    await expect.poll(() => entries.getByText('panel request').count()).toBe(0);
    panel.services.logs.console.append('err', 'the vault has no door');
    for (let count = 0; count < 3; count++) panel.services.logs.console.append('out', '[bank] Warning: vault is open');
    const repeated = entries.getByRole('listitem').filter({ hasText: 'vault is open' });
    await repeated.getByText('×3').waitFor();
    await expect.poll(() => repeated.count()).toBe(1);
    await page.getByRole('button', { name: 'Warning' }).click();
    await expect.poll(() => repeated.count()).toBe(0);
    await entries.getByText('the vault has no door').waitFor();
    await page.getByRole('button', { name: 'Ordinary requests' }).click();
    await entries.getByText('panel request').first().waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Live' }).getAttribute('aria-pressed')).toBe('false');
    await expectAccessible(page);
  });

  it('shows who may only read the console the entries of the server alone', async () => {
    const watcher = await browser.visit(panel.address, { width: 390 });
    await signIn(watcher, 'watcher', PASSWORD);
    await watcher.goto(`${panel.address}/#/logs/crashes`);
    await watcher.getByText('[shop] sold bread 250').waitFor();
    await expect.poll(() => watcher.getByRole('link', { name: 'Crashes' }).count()).toBe(0);
    await expect.poll(() => watcher.getByRole('combobox', { name: 'Source' }).count()).toBe(0);
    await watcher.goto(`${panel.address}/#/console`);
    await watcher.getByText('You may read the console, but not write to it.').waitFor();
    await expectAccessible(watcher);
  });

  it('did nothing that the policy refuses', () => {
    expect(browser.complaints).toEqual([]);
  });
});
