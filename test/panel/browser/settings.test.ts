import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, shownValue, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const CFG = 'endpoint_add_tcp "0.0.0.0:30120"\nsv_hostname "Town"\n';

describeIf(why, 'the pages of settings', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;
  let file: string | undefined;
  let page: Page;

  beforeAll(async () => {
    const serverRoot = testFolder();
    file = join(serverRoot, 'server.cfg');
    writeFileSync(file, CFG);
    panel = await startTestPanel({ settings: { backend: 'fxserver', serverRoot, dashboardName: 'Harbour RP' } });
    await panel.owner();
    await panel.account('editor', ['settings.write']);
    await panel.account('guest', ['console.read']);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  const open = (part: string, on = page) => on.goto(`${panel.address}/#/settings${part}`);
  const read = () => readFileSync(String(file), 'utf8');
  const cfg = (on = page) => on.getByLabel('Content of the file');
  const saveFile = () => page.locator('form', { has: cfg() }).getByRole('button', { name: 'Save' });

  it('refuse at the field what cannot be', async () => {
    await open('/config');
    await page.getByLabel('Start command').fill('"never closed');
    await page.getByLabel('Command to start a bundle').fill('ensure');
    await page.getByLabel('Kill after (seconds)').fill('601');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('A quotation mark is not closed.').waitFor();
    await page.getByText('The command must contain {name}.').waitFor();
    await page.getByText('Enter a whole number from 0 to 600.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe('Start command');
    await expect.poll(() => page.getByLabel('Start command').getAttribute('aria-invalid')).toBe('true');
    expect(panel.services.settings.values.startLine).toBe('');
    await expectAccessible(page);
  });

  it('show to somebody who may change settings alone what needs more, and to a guest the language only', async () => {
    const editor = await browser.visit(panel.address, { width: 390, theme: 'dark' });
    await signIn(editor, 'editor', PASSWORD);
    await open('/config', editor);
    await expect.poll(() => editor.getByLabel('Start command').getAttribute('readonly')).not.toBeNull();
    await expect.poll(() => cfg(editor).getAttribute('readonly')).not.toBeNull();
    await open('', editor);
    for (const label of ['Restart a frozen server', 'Treat as frozen after (seconds)']) {
      await expect.poll(() => editor.getByLabel(label).isDisabled(), { message: label }).toBe(true);
      await expect.poll(() => editor.getByLabel(label).getAttribute('aria-describedby')).not.toBeNull();
    }
    await expect.poll(() => editor.getByText('you also need the permission: Restart the server').count()).toBe(2);
    await expectAccessible(editor);
    const guest = await browser.visit(panel.address);
    await signIn(guest, 'guest', PASSWORD);
    await open('', guest);
    await guest.getByLabel('Language').waitFor();
    await expect.poll(() => guest.getByLabel('Panel name').count()).toBe(0);
    await guest.getByLabel('Language').selectOption('de');
    await guest.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await guest.reload();
    await guest.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await expect.poll(() => page.getByRole('heading', { name: 'Settings' }).count()).toBe(1);
  });

  it('do not write over a file that was changed meanwhile, and lose neither version', async () => {
    writeFileSync(String(file), CFG);
    await open('/config');
    // Without what the test before has left in the fields.
    await page.reload();
    await expect.poll(() => cfg().inputValue()).toBe(CFG);
    await cfg().fill(`${CFG}set mine 1\n`);
    writeFileSync(String(file), `${CFG}set other 1\n`);
    await saveFile().click();
    await page.getByText('The file was changed after you opened it.').waitFor();
    await page.getByText('set other 1').waitFor();
    await expectAccessible(page);
    expect(read()).toBe(`${CFG}set other 1\n`);
    await page.getByRole('button', { name: 'Continue with mine' }).click();
    await expect.poll(() => cfg().inputValue()).toBe(`${CFG}set mine 1\n`);
    await saveFile().click();
    await expect.poll(read).toBe(`${CFG}set mine 1\n`);
  });

  it('take the last save back with one click', async () => {
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The previous version is back.').waitFor();
    await expect.poll(() => cfg().inputValue()).toBe(`${CFG}set other 1\n`);
    expect(read()).toBe(`${CFG}set other 1\n`);
  });

  it("save the panel's name and how the server is stopped", async () => {
    await open('');
    await page.getByLabel('Panel name').fill('Lighthouse');
    await page.getByLabel('Panel name').press('Enter');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.getByRole('link', { name: 'Lighthouse' }).waitFor();
    await page.getByLabel('How the server is stopped').selectOption('Kill at once');
    await page.getByLabel('Start automatically').check();
    const running = page.locator('form', { has: page.getByLabel('How the server is stopped') });
    await running.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => panel.services.settings.values)
      .toMatchObject({ dashboardName: 'Lighthouse', shutdownMode: 'immediate', autoStartServer: true });
    await expectAccessible(page);
  });

  it('show a token of the bridge once, and revoke it', async () => {
    await open('/bridge');
    await page.getByLabel('Name of the machine').fill('voice');
    await page.getByRole('button', { name: 'New token' }).click();
    const shown = page.getByRole('dialog').getByLabel('Token');
    const token = await shownValue(shown);
    expect(token.length).toBeGreaterThan(30);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('rowheader', { name: 'voice' }).waitFor();
    await expect.poll(() => page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The token of voice is revoked.').waitFor();
    await expectAccessible(page);
  });

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));

  it('plan a restart with its next times, which the overview shows and skips', async () => {
    await open('/schedule');
    await page.getByText('Nothing is planned').waitFor();
    await page.getByRole('button', { name: 'New entry' }).click();
    await page.getByLabel('Name').fill('Night restart');
    await page.getByRole('textbox', { name: 'Times' }).fill('25:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Choose days and times, or one time that is still to come.').waitFor();
    await page.getByRole('textbox', { name: 'Times' }).fill('05:00, 17:30');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await expect.poll(() => page.getByRole('region', { name: 'Next times' }).getByRole('listitem').count()).toBe(10);
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('rowheader', { name: 'Night restart' }).waitFor();
    await page.getByText('05:00, 17:30 (Europe/Berlin)').waitFor();
    await expectAccessible(page);

    await page.goto(`${panel.address}/#/overview`);
    const next = page.getByRole('region', { name: 'Next restart' });
    await next.getByRole('button', { name: 'Skip' }).waitFor();
    const before = await next.textContent();
    await expectAccessible(page);
    await next.getByRole('button', { name: 'Skip' }).click();
    await page.getByText('This restart is skipped.').waitFor();
    await expect.poll(() => next.textContent()).not.toBe(before);

    const { schedule } = panel.services;
    const planned = Date.parse(`${schedule.next()?.at}`);
    await next.getByRole('button', { name: 'Delay 10 min' }).click();
    await expect.poll(() => Date.parse(`${schedule.next()?.at}`)).toBe(planned + 600_000);
    await next.getByRole('button', { name: 'Restart now' }).click();
    const asked = page.getByRole('dialog');
    await asked.getByRole('button', { name: 'Restart now' }).waitFor();
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Restart now' }).click();
    // The server is stopped, so nothing is restarted, and the occurrence is over.
    await expect.poll(() => schedule.view().entries[0]?.lastRun?.result).toBe('notRunning');
    expect(Date.parse(`${schedule.next()?.at}`)).toBeGreaterThan(planned + 600_000);
  });

  it('plan a command on days in place of a restart after hours, which a command cannot have', async () => {
    await open('/schedule');
    await page.getByRole('button', { name: 'New entry' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Greeting');
    await dialog.getByLabel('When').selectOption({ label: 'After hours of running' });
    await dialog.getByLabel('Hours').waitFor();
    await dialog.getByLabel('What happens').selectOption({ label: 'Type a command' });
    await dialog.getByRole('textbox', { name: 'Times' }).waitFor();
    await expect.poll(() => dialog.getByLabel('When').inputValue()).toBe('weekly');
    await dialog.getByLabel('Command', { exact: true }).fill('say hello');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('rowheader', { name: 'Greeting' }).waitFor();
  });

  it('mark a token that has ended', async () => {
    const token = { id: 1, username: 'owner', permissions: [], addresses: [], lastUsedAt: null };
    const times = { createdAt: '2020-01-01T00:00:00.000Z', lastAddress: null };
    const ends = { ended: '2020-02-01T00:00:00.000Z', later: new Date(Date.now() + 86_400_000).toISOString() };
    const tokens = Object.entries(ends).map(([name, expiresAt], id) => ({ ...token, ...times, id, name, expiresAt }));
    await page.route('**/api/tokens', (route) => route.fulfill({ json: { ok: true, tokens } }));
    await open('');
    await page.reload();
    const list = page.getByRole('table', { name: 'Tokens' });
    await list.waitFor();
    await expect.poll(() => list.locator('.badge').allTextContents()).toEqual(['ended']);
    await expectAccessible(page);
    await page.unrouteAll();
    await page.reload();
  });

  it('make a token that a program can use, and revoke it', async () => {
    await open('');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What it is for').fill('night script');
    await dialog.getByLabel('Read the console').check();
    await dialog.getByLabel('Password').fill('wrong');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Make token' }).click();
    await dialog.getByText('User name or password is wrong.').waitFor();
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Make token' }).click();
    const token = await shownValue(page.getByRole('dialog').getByLabel('Token'));
    const ask = () => fetch(`${panel.address}/api/console`, { headers: { authorization: `Bearer ${token}` } });
    expect((await ask()).status).toBe(200);
    await page.keyboard.press('Escape');
    await page.getByRole('rowheader', { name: 'night script' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The token of night script is revoked.').waitFor();
    expect((await ask()).status).toBe(401);
  });
});
