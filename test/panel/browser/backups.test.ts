import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { useSidecarProgram } from '../support/backup-program.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

/** Older ones, as far as the list looks at them. */
function copyBackups(backup: string, count: number): void {
  const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as { time: string };
  for (let day = 1; day <= count; day += 1) {
    const time = new Date(Date.parse(manifest.time) - day * 86_400_000).toISOString();
    const copy = join(dirname(backup), `backup-${time.slice(0, 19).replaceAll(':', '-')}Z`);
    mkdirSync(copy);
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...manifest, time }));
  }
}

const why = await whyNoBrowser();

describeIf(why, 'the page of backups', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
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

  /** Counts the reads of the list from now on. */
  function countLists(): () => number {
    let count = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/backups') count += 1;
    });
    return () => count;
  }

  it('makes a backup, shows what a restore changes, restores it and offers the way back', async () => {
    await page.getByText('Backups stay on this machine').waitFor();
    await page.getByText('Press “Make a backup” for the first one.').waitFor();
    await expectAccessible(page);
    const lists = countLists();
    await page.getByRole('button', { name: 'Make a backup' }).click();
    await page.getByText('Done', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'All backups' }).getByRole('link').waitFor();
    // A list asks the place off the machine: it is read at the end of the job alone.
    expect(lists()).toBe(1);
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

  it('shows the newest of many backups, and more with each click', async () => {
    const backups = join(panel.folder, 'backups');
    const made = readdirSync(backups).filter((name) => /^backup-.*Z(-\d+)?$/.test(name));
    copyBackups(join(backups, `${made[0]}`), 60);
    await page.goto(`${panel.address}/#/backups`);
    await page.reload();
    const rows = page.getByRole('table', { name: 'All backups' }).getByRole('rowheader');
    const older = page.getByRole('button', { name: 'Older backups' });
    await page.getByText(`${made.length + 60} backups`).waitFor();
    await expect.poll(() => rows.count()).toBe(25);
    await older.click();
    await expect.poll(() => rows.count()).toBe(50);
    await older.click();
    await expect.poll(() => rows.count()).toBe(made.length + 60);
    await expect.poll(() => older.count()).toBe(0);
    // The button is gone, and the keyboard goes on in the rows that came.
    const focused = rows.nth(50).getByRole('link');
    await expect.poll(() => focused.evaluate((link) => link === document.activeElement)).toBe(true);
    await fits();
    await expectAccessible(page);
  });

  it('keeps the place in the list on the way to a backup and back', async () => {
    const link = page.getByRole('table', { name: 'All backups' }).getByRole('rowheader').nth(40).getByRole('link');
    const title = page.getByRole('heading', { level: 2, name: /^backup-/ });
    const isBack = async () => {
      await expect.poll(() => link.evaluate((each) => each === document.activeElement)).toBe(true);
      const place = await link.evaluate((each) => each.getBoundingClientRect().top / innerHeight);
      expect(place).toBeGreaterThan(0);
      expect(place).toBeLessThan(1);
    };
    await page.reload();
    await link.click();
    await title.waitFor();
    await expect.poll(() => page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await isBack();
    await link.click();
    await title.waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'All backups' }).click();
    await isBack();
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
