import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { NoticeReceiver } from '../support/notice-receiver.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'the page of notices', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let receiver: NoticeReceiver;
  let panel: TestPanel;
  let owner: PanelClient;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    receiver = await NoticeReceiver.start();
    panel = await startTestPanel({ config: { panel: { notices: { privateHosts: ['127.0.0.1'] } } } });
    owner = await panel.owner();
    await panel.account('editor', ['settings.write']);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/settings/notices`);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
    await receiver?.stop();
  });

  const dialog = () => page.getByRole('dialog');

  it('makes a webhook, whose secret it shows once', async () => {
    await page.getByText('There are no targets yet').waitFor();
    await page.getByRole('button', { name: 'New target' }).click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('phone');
    await dialog().getByLabel('Kind').selectOption('Webhook');
    await dialog().getByRole('textbox', { name: 'Address' }).fill('https://10.0.0.1/hook');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Enter an address with https').waitFor();
    expect(await dialog().getByRole('textbox', { name: 'Address' }).getAttribute('aria-invalid')).toBe('true');
    await dialog().getByRole('textbox', { name: 'Address' }).fill(receiver.url());
    await dialog().getByLabel('Certificates (PEM)').fill(receiver.ca);
    await dialog().getByLabel('Quiet hours').check();
    await dialog().getByLabel('Time zone').fill('Europe/Berlin');
    const ofServer = dialog().getByRole('group', { name: 'Server' });
    expect(await ofServer.getByLabel('The server has crashed').isChecked()).toBe(true);
    expect(await ofServer.getByLabel('The server has started').isChecked()).toBe(false);
    await expectAccessible(page);
    await dialog().getByRole('button', { name: 'Save' }).click();
    // The dialog before it has a field of the same name.
    const shown = page.getByRole('dialog', { name: 'The secret of the webhook' });
    const secret = await shown.getByLabel('Secret').inputValue();
    expect(secret).toMatch(/^[\w-]{43}$/);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('rowheader', { name: 'phone' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(panel.services.notices.list().targets).toMatchObject([
      { name: 'phone', quiet: { from: '23:00', to: '07:00', timeZone: 'Europe/Berlin', errors: true } },
    ]);
  });

  it('tests it, and says why a test was not delivered', async () => {
    await page.getByText('None since the start').waitFor();
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText(/Delivered in/).waitFor();
    await page.getByText('Delivered', { exact: true }).waitFor();
    receiver.answers.push({ status: 404, text: 'no such hook' });
    await page.getByRole('button', { name: 'Test' }).click();
    await dialog().getByText('The host refused it (status 404).').waitFor();
    await dialog().getByText('no such hook').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    const state = page.getByRole('cell', { name: /^Failed/ });
    await state.getByText('The host refused it (status 404).').waitFor();
    await expectAccessible(page);
  });

  it('changes a target without its address, and deletes it', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog().getByRole('textbox', { name: 'Address' }).inputValue()).toBe('');
    await dialog().getByRole('textbox', { name: 'Name' }).fill('telephone');
    await dialog().getByLabel('All, also those of later versions').check();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('rowheader', { name: 'telephone' }).waitFor();
    expect(panel.services.notices.list().targets).toMatchObject([
      { events: ['*'], origin: `https://127.0.0.1:${receiver.port}` },
    ]);
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no targets yet').waitFor();
  });

  it('offers a program to a manager of accounts alone, also on a phone', async () => {
    const program = { name: 'bell', kind: 'command', line: 'node bell.js', events: ['*'] };
    expect((await owner.post('/api/notices/save', program)).status).toBe(200);
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    const editor = await browser.visit(panel.address, { width: 390, theme: 'dark' });
    await signIn(editor, 'editor', PASSWORD);
    await editor.goto(`${panel.address}/#/settings/notices`);
    await editor.getByRole('rowheader', { name: 'bell' }).waitFor();
    expect(await editor.getByRole('row').getByRole('button').count()).toBe(0);
    await editor.getByRole('button', { name: 'New target' }).click();
    expect(await editor.getByLabel('Kind').locator('option').allTextContents()).toEqual(['Discord', 'Webhook']);
    await expectAccessible(editor);
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
