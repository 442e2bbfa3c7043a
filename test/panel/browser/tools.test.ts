import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { type LivedInPanel, startLivedInPanel } from '../support/lived-in-panel.ts';
import { PASSWORD } from '../support/panel.ts';

const why = await whyNoBrowser();

describeIf(why, 'the pages of the bundle tools', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: LivedInPanel;
  let browser: TestBrowser;
  let page: Page;
  let phone: Page;

  const folderOf = (name: string) => join(panel.serverRoot, 'bundles', name);
  const go = (path: string, on = page) => on.goto(`${panel.address}/#/${path}`);

  beforeAll(async () => {
    panel = await startLivedInPanel();
    await panel.owner();
    await panel.api.must('schema.extend', {
      ...{ namespace: 'game', part: 'casino' },
      schema: { tables: [{ name: 'bets', primaryKey: ['id'], columns: [{ name: 'id', type: 'int64' }] }] },
    });
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
    phone = await browser.visit(panel.address, { width: 390, theme: 'dark' });
    await signIn(phone, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('say that the tools are off, and turn them on', async () => {
    await go('tools');
    await page.getByText('The bundle tools are off.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('No job has run yet').waitFor();
    await expectAccessible(page);
  });

  it('give a bundle tags and another autostart than its manifest', async () => {
    await go('bundles');
    await page.getByRole('link', { name: 'casino' }).click();
    await page.getByRole('heading', { name: 'Tags and autostart' }).waitFor();
    await page.getByLabel('Your tags').fill('night, luck');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByLabel('Start with the server').click();
    await page.getByText('Your choice; the manifest says otherwise.').waitFor();
    await page.getByRole('button', { name: 'As the manifest says' }).click();
    await page.getByText('Holds from the next start of the server.', { exact: true }).waitFor();
    await expectAccessible(page);
    await go('bundles/casino', phone);
    await expect.poll(() => phone.getByLabel('Your tags').inputValue()).toBe('night, luck');
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(phone);
  });

  it('show the data of a bundle, and that nothing is known of files that the panel did not install', async () => {
    await page.getByRole('table', { name: 'Data' }).getByRole('link', { name: 'game.bets' }).waitFor();
    await page.getByText(/^The panel did not put this bundle in place/).waitFor();
    await expectAccessible(page);
  });

  it('delete a bundle after a preview, follow the job, and take it back', async () => {
    await page.getByRole('button', { name: 'Delete bundle' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 files').waitFor();
    await dialog.getByText('game.bets').waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Delete bundle' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await dialog.getByLabel('Write casino to confirm').fill('casino');
    await dialog.getByRole('button', { name: 'Delete bundle' }).click();
    await page.getByRole('heading', { name: 'Delete a bundle · casino' }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    await page.getByRole('log', { name: 'Log' }).getByText('Moving casino to the trash').waitFor();
    expect(existsSync(folderOf('casino'))).toBe(false);
    await expectAccessible(page);
    await go('tools/trash', phone);
    await phone.getByRole('rowheader', { name: 'casino' }).waitFor();
    await expectAccessible(phone);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { name: 'Restore a bundle · casino' }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    await expect.poll(() => existsSync(folderOf('casino'))).toBe(true);
    await phone.getByText('The trash is empty').waitFor();
  });

  it('name the entry of an archive at fault, show what an install would change, and do it', async () => {
    await go('bundles');
    await page.getByRole('link', { name: 'Upload bundles' }).click();
    const archive = (files: Readonly<Record<string, string>>) => ({
      ...{ name: 'shops.zip', mimeType: 'application/zip' },
      buffer: Buffer.from(
        zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)]))),
      ),
    });
    const manifest = (version: string, more: object = {}) => JSON.stringify({ version, server: 'server.js', ...more });
    await expectAccessible(page);
    await page.getByLabel('ZIP archive').setInputFiles(archive({ 'shop/bundle.json': '{}', 'shop/../../x.js': '' }));
    await page.getByRole('alert').getByText('shop/../../x.js').waitFor();
    const bundles = {
      ...{ 'all/casino/bundle.json': manifest('2.0.0'), 'all/casino/server.js': 'export default () => {};' },
      'all/very_long_name_of_a_shop_that_sells_everything_one_could_ever_need_and_more_of_it/bundle.json': manifest(
        '1.0.0',
        { dependencies: ['no_such_bundle'] },
      ),
      'all/very_long_name_of_a_shop_that_sells_everything_one_could_ever_need_and_more_of_it/server.js': '',
      'all/readme.txt': 'hello',
    };
    await page.getByLabel('ZIP archive').setInputFiles(archive(bundles));
    await page.getByText('Installed by hand: edits cannot be told apart.').waitFor();
    await page.getByText('It needs bundles that are neither installed nor in the archive: no_such_bundle').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Install 2 bundles' }).click();
    await page.getByText('Done', { exact: true }).waitFor();
    expect(readFileSync(join(folderOf('casino'), 'bundle.json'), 'utf8')).toBe(manifest('2.0.0'));

    writeFileSync(join(folderOf('casino'), 'server.js'), 'edited by hand');
    writeFileSync(join(folderOf('casino'), 'bundle.json'), `${manifest('2.0.0')} `);
    await go('tools/upload', phone);
    const next = { ...bundles, 'all/casino/bundle.json': manifest('3.0.0') };
    await phone.getByLabel('ZIP archive').setInputFiles(archive(next));
    await phone.getByText('2 files were edited on the server').waitFor();
    await phone.getByLabel('bundle.json').selectOption('Overwrite it');
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(phone);
    await phone.getByRole('button', { name: 'Install 1 bundle' }).click();
    await phone.getByText('Done', { exact: true }).waitFor();
    expect(readFileSync(join(folderOf('casino'), 'bundle.json'), 'utf8')).toBe(manifest('3.0.0'));
    expect(readFileSync(join(folderOf('casino'), 'server.js'), 'utf8')).toBe('edited by hand');
  });

  it('show on the page of a bundle which files were edited, and which stay at each install', async () => {
    writeFileSync(join(folderOf('casino'), 'prices.lua'), 'bread = 9');
    await go('bundles/casino', phone);
    await phone.getByRole('list', { name: 'Edited files' }).getByText('prices.lua').waitFor();
    await phone.getByRole('list', { name: 'Carried over by each install' }).getByText('server.js').waitFor();
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(phone);
  });

  it('list the jobs, and keep settings in their bounds', async () => {
    await go('tools');
    await page.getByRole('link', { name: 'Restore a bundle · casino' }).waitFor();
    await expectAccessible(page);
    await go('tools/settings');
    await page.getByLabel('Days in the trash').fill('400');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a whole number from 0 to 365.').waitFor();
    await page.getByLabel('Days in the trash').fill('30');
    await page.getByLabel('Hosts of source projects').fill('git.example:8443\n\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => panel.services.settings.values.tools)
      .toMatchObject({
        ...{ trashDays: 30, gitHosts: ['git.example:8443'] },
      });
    await expectAccessible(page);
  });

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));
});
