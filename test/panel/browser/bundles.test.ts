import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { HOSTILE, type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'the page of bundles', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: LivedInPanel;
  let browser: TestBrowser;
  let page: Page;
  let watcher: Page;

  beforeAll(async () => {
    panel = await startLivedInPanel();
    const owner = await panel.owner();
    await panel.account('watcher', ['bundles.read']);
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/bundles`);
    watcher = await browser.visit(panel.address, { width: 390 });
    await signIn(watcher, 'watcher', PASSWORD);
    await watcher.goto(`${panel.address}/#/bundles`);
    await page.getByText('The server is not running.').waitFor();
    await page.getByRole('button', { name: 'Start', disabled: true }).first().waitFor();
    await owner.post('/api/server/start');
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  const row = (name: string, on = page) => on.getByRole('row').filter({ has: on.getByRole('rowheader', { name }) });

  it('gives somebody who may only look no buttons, and hears of every state', async () => {
    await row('base', watcher).getByText('Running').waitFor();
    await row('police', watcher).getByText('Failed').waitFor();
    await expect.poll(() => watcher.getByRole('main').getByRole('button').count()).toBe(0);
    await expectAccessible(watcher);
  });

  it('shows what a manifest says as text', async () => {
    await row('fishing').getByText(HOSTILE).waitFor();
    await expect.poll(() => page.title()).not.toContain('hacked');
  });

  it('says which others stop with a bundle before it stops them', async () => {
    await row('base').getByText('Running').waitFor();
    await row('base').getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByText('fishing, jobs').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await row('base').getByText('Running').waitFor();
    await row('base').getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await row('jobs').getByText('Stopped').waitFor();
    await row('jobs', watcher).getByText('Stopped').waitFor();
  });

  it('starts one, by keyboard, and finds by tag', async () => {
    await page.getByLabel('Search').fill('core');
    await row('base').getByText('Stopped').waitFor();
    await row('base').getByRole('button', { name: 'Start' }).focus();
    await page.keyboard.press('Enter');
    await row('base').getByText('Running').waitFor();
    await expect.poll(() => page.getByRole('rowheader').count()).toBe(2);
    await page.getByLabel('Search').fill('');
    await expectAccessible(page);
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
