import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { useSidecarProgram } from '../support/backup-program.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'the page of backups', () => {
  let panel: LivedInPanel;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    useSidecarProgram();
    panel = await startLivedInPanel();
    await panel.owner();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/backups`);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  const fits = async () =>
    expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

  it('makes a backup, shows what a restore changes, restores it and offers the way back', async () => {
    await page.getByText('Backups stay on this machine').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Make a backup' }).click();
    await page.getByText('Done', { exact: true }).waitFor();
    await panel.api.must('insert', { namespace: 'game', table: 'notes', rows: [{ text: 'one more' }] });
    await fits();
    await page.getByRole('table', { name: 'All backups' }).getByRole('link').click();
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'game.notes' }) });
    await row.getByText('−1').waitFor();
    const restore = page.getByRole('button', { name: 'Restore' });
    await expect.poll(() => restore.isDisabled()).toBe(true);
    await page.getByLabel('What').selectOption('game');
    await page.getByRole('heading', { level: 2, name: /^backup-/ }).waitFor();
    const name = (await page.getByRole('heading', { level: 2 }).allTextContents()).find((text) =>
      /^backup-/.test(text),
    );
    await page.getByLabel(`Write ${name} to confirm`).fill(String(name));
    await fits();
    await expectAccessible(page);
    await restore.click();
    await page.getByRole('heading', { name: 'Restore a backup' }).waitFor();
    await page.getByRole('button', { name: 'Undo the restore' }).click();
    await page.getByRole('dialog').getByText('was made just before it').waitFor();
    await expectAccessible(page);
    const { rows } = await panel.api.must<{ rows: object[] }>('find', { namespace: 'game', table: 'notes' });
    expect(rows).toHaveLength(1);
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
