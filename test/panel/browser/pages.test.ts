import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeIf } from '#support/describe-if.ts';
import { expectAccessible, type Page, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();

/** All places that somebody can go to, as the tests of each page fill them; here they have what a new panel has. */
const PLACES = [
  ...['overview', 'console', 'players', 'bundles', 'logs', 'logs/diagnostics', 'logs/crashes'],
  ...['database', 'database/queue', 'database/quarantine', 'database/slow', 'database/keys'],
  ...[
    'settings',
    'settings/config',
    'settings/bridge',
    'tools',
    'tools/trash',
    'tools/settings',
    'accounts',
    'accounts/audit',
    'updates',
    'no-such-page',
  ],
];

/** Whether a part of the active tab is cut by its row. */
const ACTIVE_TAB_OUTSIDE = `(() => {
  const [row, tab] = ['.tabs', '.tabs [aria-current]'].map((path) => document.querySelector(path)?.getBoundingClientRect());
  return row !== undefined && tab !== undefined && (tab.left < row.left - 1 || tab.right > row.right + 1);
})()`;

/** Controls of the page that are lower than 44 px, without the hidden link to the content. */
const LOW_CONTROLS = `[...document.querySelectorAll('button, select, a.button, .tabs a, .table tbody th a')]
  .map((control) => [control, control.getBoundingClientRect()])
  .filter(([, { height, bottom }]) => bottom > 0 && height > 0 && height < 44)
  .map(([control, { height }]) => height + ' ' + control.textContent)`;

describeIf(why, 'every page', () => {
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  let phone: Page;

  beforeAll(async () => {
    panel = await startTestPanel({ settings: { backend: 'command', bundles: ['chat', 'garage'] } });
    const owner = await panel.owner();
    // Its words are among the longest.
    await owner.post('/api/settings', { locale: 'ru' });
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    const session = owner.cookies.get('panel-session') as string;
    const cookie = { name: 'panel-session', value: session, url: panel.address };
    await page.context().addCookies([cookie]);
    await page.reload();
    phone = await browser.visit(panel.address, { width: 390, touch: true });
    await phone.context().addCookies([cookie]);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it.each(PLACES)('fits a phone, also in long words, and has nothing serious for axe: %s', async (place) => {
    await page.goto(`${panel.address}/#/${place}`);
    await expect.poll(() => page.evaluate('location.hash')).toBe(`#/${place}`);
    // A requested part shows that it loads until it is there.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await expect.poll(() => page.locator('main .loading').count()).toBe(0);
    // The first page of all comes after the session is known.
    await expect.poll(() => page.getByRole('heading', { level: 1 }).count()).toBe(place === 'no-such-page' ? 0 : 1);
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expect.poll(() => page.evaluate(ACTIVE_TAB_OUTSIDE)).toBe(false);
    await expectAccessible(page);
  });

  it.each([
    ...['overview', 'bundles', 'logs', 'settings', 'accounts', 'updates', 'backups'],
    ...['database', 'database/queue'],
  ])('has nothing to press that is too small for a finger: %s', async (place) => {
    await phone.goto(`${panel.address}/#/${place}`);
    await phone.reload();
    await expect.poll(() => phone.getByRole('heading', { level: 1 }).count()).toBe(1);
    await expect.poll(() => phone.locator('main .loading').count()).toBe(0);
    expect(await phone.evaluate(LOW_CONTROLS)).toEqual([]);
  });

  it('asks no other host, and breaks no policy', () => {
    expect(browser.complaints).toEqual([]);
  });
});
