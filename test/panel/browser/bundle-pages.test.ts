import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { commit, newRepository, setBranch } from '../merging/repository.ts';
import { type Page, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { bundleOf, FAILS, InstallRig } from '../support/install-rig.ts';

const why = await whyNoBrowser();
/** As long as names may be that anybody reads aloud. */
const LONG = 'very_long_name_of_a_shop_that_sells_everything_one_could_ever_ne';
const LONG_BRANCH = 'feature/a-branch-with-a-very-long-name-that-says-what-it-is-about-in-full';
const LONG_VERSION = '12.34.56-beta.20261129.1+build.abcdefghijklmnopqrstuvwxyz0123456789';

const PLACES = [
  ...['bundles', `bundles/${LONG}`, 'bundles/shop', 'bundles/nothing', 'tools', 'tools/jobs/failed', 'tools/upload'],
  ...['tools/sources', `tools/sources/${LONG}`, `tools/sources/${LONG}/packages`],
  `tools/sources/${LONG}/compare?base=main&head=${encodeURIComponent(LONG_BRANCH)}`,
  ...['tools/accounts', 'tools/programs', 'tools/trash', 'tools/settings'],
];

/** Words of at most eight letters that are broken in two. */
const BROKEN_WORDS = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/\\p{L}{2,}/gu)) {
      const isAlone = !/[^\\s(]/.test(node.data[index - 1] ?? ' ') && !/[^\\s),.:]/.test(node.data[index + word.length] ?? ' ');
      if (word.length > 8 || !isAlone) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
    }
  }
  return found;
})()`;

/** Things to press that are lower than 44 px. A link inside a sentence or a row of a table is text. */
const LOW_CONTROLS = `[...document.querySelectorAll(
    'main button, main select, main a.button, main .tabs a, main .log-actions a, main .checkbox label, main .diff-sides label',
  )]
  .map((control) => [control, control.getBoundingClientRect()])
  .filter(([, { height, bottom }]) => bottom > 0 && height > 0 && height < 44)
  .map(([control, { height }]) => height + ' ' + control.textContent)`;

/** Buttons of a row that do not stand beside the row's first line. */
const ROWS_OUT_OF_LINE = `[...document.querySelectorAll('.table tbody tr')].flatMap((row) => {
  const [name, button] = [row.querySelector('th > div'), row.querySelector('td.actions button')];
  if (name === null || button === null || innerWidth < 704) return [];
  const { top, height } = button.getBoundingClientRect();
  const [line] = [...name.getClientRects()];
  const lineHeight = Number.parseFloat(getComputedStyle(name).lineHeight);
  return Math.abs(top + height / 2 - line.top - lineHeight / 2) > 2 ? [row.textContent] : [];
})`;

describeIf(why, 'the pages of bundles, with long names', () => {
  let rig: InstallRig;
  let browser: TestBrowser;
  let phone: Page;
  let desk: Page;
  let failedJob: string;

  beforeAll(async () => {
    const plain = bundleOf('1.0.0');
    rig = await InstallRig.start({ gone: plain, shop: plain, [LONG]: bundleOf(LONG_VERSION) });
    const { owner, services, panel, root } = rig;
    await rig.run();
    for (const version of ['1.1.0', LONG_VERSION]) {
      const files = {
        ...bundleOf(version, undefined, { description: 'Bread. '.repeat(30) }),
        'config.lua': 'bread = 1',
      };
      await rig.ended(rig.put({ bundles: [{ name: LONG, files }], overwrite: true }));
    }
    failedJob = rig.put({ bundles: [{ name: 'shop', files: bundleOf('2.0.0', FAILS) }] });
    await rig.ended(failedJob);
    writeFileSync(join(root, 'bundles', LONG, 'config.lua'), 'bread = 2');
    const { body } = await owner.post<{ info: { hash: string } }>('/api/bundles/delete-info', { name: 'gone' });
    const removal = { name: 'gone', confirm: 'gone', hash: body.info.hash };
    const deleted = await owner.post<{ status: { id: string } }>('/api/bundles/delete', removal);
    await rig.ended(deleted.body.status.id);
    await owner.post('/api/bundle-tools/settings', { gitHosts: ['git.example'] });
    const account = { name: LONG.slice(0, 40), kind: 'gitea', url: `https://git.example/${LONG}`, username: LONG };
    await owner.post('/api/bundle-tools/accounts/save', { ...account, token: 'secret' });
    const repository = await newRepository(join(panel.folder, 'data/bundle-tools/sources'), LONG);
    const first = await commit(repository, { 'bundle.json': '{}', 'prices.lua': 'bread = 1\n' }, null);
    const base = await commit(repository, { 'bundle.json': '{}', 'prices.lua': 'bread = 2\n' }, first);
    const head = await commit(
      repository,
      { 'bundle.json': '{}', 'prices.lua': `bread = 3${'3'.repeat(300)}\n` },
      first,
    );
    await setBranch(repository, 'main', base);
    await setBranch(repository, LONG_BRANCH, head);
    services.projectStore.save({
      ...{ name: LONG, origin: null, account: null, branch: 'main', commit: base, root: '', build: null },
      ...{ workflow: { workflow: 'review', branch: 'main', approvals: 1 }, fetchedAt: null },
    });
    browser = await TestBrowser.start();
    const session = owner.cookies.get('panel-session') as string;
    const visit = async (view: { readonly width: number; readonly touch: boolean }) => {
      const page = await browser.visit(panel.address, view);
      await page.context().addCookies([{ name: 'panel-session', value: session, url: panel.address }]);
      await page.reload();
      return page;
    };
    phone = await visit({ width: 390, touch: true });
    desk = await visit({ width: 1440, touch: false });
  });

  afterAll(async () => {
    await browser?.close();
    await rig?.stop();
  });

  async function open(page: Page, place: string): Promise<void> {
    await page.goto(`${rig.panel.address}/#/${place.replace('jobs/failed', `jobs/${failedJob}`)}`);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await expect.poll(() => page.getByRole('heading', { level: 1 }).count()).toBe(1);
    await expect.poll(() => page.locator('main .loading').count()).toBe(0);
  }

  it.each(PLACES)('fit a phone and a finger, and break no short word: %s', async (place) => {
    await open(phone, place);
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expect.poll(() => phone.evaluate(LOW_CONTROLS)).toEqual([]);
    await expect.poll(() => phone.evaluate(BROKEN_WORDS)).toEqual([]);
    await open(desk, place);
    await expect.poll(() => desk.evaluate(BROKEN_WORDS)).toEqual([]);
    await expect.poll(() => desk.evaluate(ROWS_OUT_OF_LINE)).toEqual([]);
  });

  it('stop and start one from its own page, and lead to its lines in the log', async () => {
    await open(desk, 'bundles/shop');
    await desk.getByRole('button', { name: 'Stop' }).click();
    await desk.getByRole('button', { name: 'Start', exact: true }).click();
    await desk.getByRole('button', { name: 'Restart' }).waitFor();
    await desk.getByRole('link', { name: 'Its lines in the log' }).click();
    await expect.poll(() => desk.getByLabel('Search', { exact: true }).inputValue()).toBe('shop');
    await desk.getByRole('list', { name: 'Diagnostics' }).getByText('no goods').first().waitFor();
  });

  it('offer the way back to a version that was good, and none to the one that was taken back', async () => {
    const versions = desk.getByRole('table', { name: 'Versions' });
    const back = versions.getByRole('button', { name: 'Go back to it' });
    await open(desk, `bundles/${LONG}`);
    await back.first().waitFor();
    await open(desk, 'bundles/shop');
    await versions.getByText('Taken back').waitFor();
    await expect.poll(() => back.count()).toBe(0);
  });

  it('have made no page complain', () => expect(browser.complaints).toEqual([]));
});
