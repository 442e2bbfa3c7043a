import { join } from 'node:path';
import { expect } from 'vitest';
import type { Repository } from '#panel/sources/git/repository.ts';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { type FakeForge, FORGE_TOKEN, startFakeForge } from '#support/fake-forge.ts';
import { testFolder } from '#support/test-folder.ts';
import { commit, newRepository, setBranch } from '../merging/repository.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const LINES = Array.from({ length: 30 }, (_, index) => `local line_${index + 1} = ${index + 1}`);
const REGISTRY = 'https://registry.example/';
const LONG_NAME = 'a-package-with-quite-a-long-name-of-its-own';
const PACKAGES = {
  'package.json': JSON.stringify({ name: 'shop', version: '1.0.0', dependencies: { [LONG_NAME]: '^1.0.0' } }),
  'package-lock.json': JSON.stringify({
    ...{ name: 'shop', version: '1.0.0', lockfileVersion: 3 },
    packages: {
      '': { name: 'shop', version: '1.0.0', dependencies: { [LONG_NAME]: '^1.0.0' } },
      [`node_modules/${LONG_NAME}`]: {
        ...{ version: '1.0.2', hasInstallScript: true, integrity: `sha512-${'A'.repeat(86)}==` },
        resolved: `${REGISTRY}${LONG_NAME}/-/${LONG_NAME}-1.0.2.tgz`,
      },
    },
  }),
};
const text = (changes: Readonly<Record<number, string>>) =>
  `${LINES.map((line, index) => changes[index + 1] ?? line).join('\n')}\n`;

describeIf(why, 'the pages of source projects', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let forge: FakeForge;
  let browser: TestBrowser;
  let repository: Repository;
  let page: Page;

  beforeAll(async () => {
    forge = await startFakeForge(testFolder());
    panel = await startTestPanel({
      config: { panel: { caFile: forge.caFile } },
      settings: { backend: 'standalone', serverRoot: testFolder(), bundleTools: true },
    });
    await panel.owner();
    const { tools } = panel.services.settings.values;
    panel.services.settings.update({
      tools: { ...tools, gitHosts: [forge.host], privateHosts: [forge.host], registry: REGISTRY },
    });
    repository = await newRepository(join(panel.folder, 'data/bundle-tools/sources'), 'shop');
    const root = await commit(repository, { ...PACKAGES, 'prices.lua': text({}), 'server.lua': text({}) }, null);
    const base = await commit(
      repository,
      { ...PACKAGES, 'prices.lua': text({ 3: 'local bread = 4' }), 'server.lua': text({}) },
      root,
    );
    const head = await commit(
      repository,
      {
        ...PACKAGES,
        'prices.lua': text({ 3: 'local bread = 5' }),
        'server.lua': text({ 20: `local long = "${'many words '.repeat(20)}"`, 2: 'local hidden = "\u202e"' }),
      },
      root,
      'carol',
    );
    await setBranch(repository, 'main', base);
    await setBranch(repository, 'work', head);
    panel.services.projectStore.save({
      ...{ name: 'shop', origin: null, account: null, branch: 'main', commit: base, root: '', build: null },
      ...{ workflow: { workflow: 'direct', branch: 'main', approvals: 1 }, fetchedAt: null },
    });
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
    await forge?.stop();
  });

  it('list projects and lead to one', async () => {
    await page.goto(`${panel.address}/#/tools/sources`);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'shop' }).click();
    await page.getByRole('heading', { name: 'shop' }).waitFor();
    await page.getByRole('link', { name: 'Compare' }).waitFor();
    await expectAccessible(page);
  });

  it('show a difference that reads on a phone, and merge it with a side for each conflict', async () => {
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'work → main' }).waitFor();
    await page.getByText('local hidden = "\\u{202e}"').waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    const merge = page.getByRole('button', { name: 'Merge' });
    await expect.poll(() => merge.isDisabled()).toBe(true);
    await page.getByText('1 conflict left').waitFor();
    await page.getByLabel('Take the new file').check();
    await merge.click();
    await page.getByRole('heading', { name: 'Merge branches · shop' }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    const merged = (await repository.commitOf('refs/heads/main')) ?? '';
    const prices = await repository.file(merged, 'prices.lua', 100_000);
    expect(prices?.toString()).toBe(text({ 3: 'local bread = 5' }));
  });

  it('take back what was merged last, from the page of its job on', async () => {
    await page.getByRole('link', { name: 'Build and install · shop' }).click();
    await page.getByRole('link', { name: 'Take back what was merged last' }).click();
    await page.getByRole('heading', { name: 'Take back what was merged last → main' }).waitFor();
    await page.getByText('Revert "Merge work into main"').waitFor();
    await expect
      .poll(() => page.getByLabel('Message of the commit').inputValue())
      .toBe('Revert "Merge work into main"');
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Merge' }).click();
    await page.getByRole('heading', { name: 'Merge branches · shop' }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    const back = (await repository.commitOf('refs/heads/main')) ?? '';
    expect((await repository.file(back, 'prices.lua', 100_000))?.toString()).toBe(text({ 3: 'local bread = 4' }));
  });

  it('save and try an account, and choose one of its repositories', async () => {
    await page.goto(`${panel.address}/#/tools/accounts`);
    await page.getByRole('button', { name: 'Add an account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('main');
    await dialog.getByLabel('Address').fill('https://elsewhere.example');
    await dialog.getByLabel('Token', { exact: true }).fill(FORGE_TOKEN);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Address').fill(forge.origin);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText('main: the token is of ann.').waitFor();
    panel.services.sourceAccounts.note('main', true);
    await page.reload();
    await page.getByText(/^The token of main is refused since \d\d:\d\d; what is installed runs on\.$/).waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await page.goto(`${panel.address}/#/tools/sources`);
    await page.getByLabel('Account', { exact: true }).selectOption('main');
    await page.getByRole('button', { name: 'Choose a repository' }).click();
    await page.getByRole('list', { name: 'Repositories' }).getByRole('button', { name: 'ann/tools' }).click();
    await expect.poll(() => page.getByLabel('Project').inputValue()).toBe('tools');
    expect(new URL(await page.getByLabel('Address of the repository').inputValue()).origin).toBe(forge.origin);
    await expectAccessible(page);
  });

  it('list packages, propose a change, and say which program is missing for it', async () => {
    await page.goto(`${panel.address}/#/tools/sources/shop`);
    await page.getByRole('link', { name: 'Packages' }).click();
    await page.getByRole('rowheader', { name: LONG_NAME }).getByText('install script').waitFor();
    await page.getByLabel('Package', { exact: true }).fill(LONG_NAME);
    await page.getByLabel('Exact version').fill('1.0.3');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('list', { name: 'Propose changes' }).getByText('1.0.3').waitFor();
    await page.getByLabel('Title of the review').fill('Newer');
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Ask for a review' }).click();
    await page.getByRole('heading', { name: 'Change packages · shop' }).waitFor();
    await page.goto(`${panel.address}/#/tools/programs`);
    await page.getByRole('row', { name: /^git/ }).getByText('2.38').waitFor();
    await page.getByLabel('Version of npm').fill('10.0.0');
    await page.getByRole('button', { name: 'Install npm' }).click();
    await page.getByText('expected 11.19.1 or newer').waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
  });

  it('take a branch for the next build, remove a project and bring it back', async () => {
    await page.goto(`${panel.address}/#/tools/sources/shop`);
    await page.getByLabel('Branch or tag').selectOption('work');
    await page.getByRole('button', { name: 'Use for the next build' }).click();
    await page.getByText('The next build takes work.').waitFor();
    expect(panel.services.projectStore.find('shop')?.branch).toBe('work');
    await page.getByRole('button', { name: 'Delete the project' }).click();
    await page.getByLabel('Write shop to confirm').fill('shop');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the project' }).click();
    await page.getByText('Done', { exact: true }).waitFor();
    await page.goto(`${panel.address}/#/tools/sources`);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The project shop is back.').waitFor();
    await page.getByRole('link', { name: 'shop' }).waitFor();
  });

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));
});
