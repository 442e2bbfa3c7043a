import { expect } from 'vitest';
import type { DatabaseHealth } from '#panel/shapes/database.ts';
import { excludedEngines } from '#scripts/servers/chosen-engines.ts';
import { startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { casesInOrder } from '#support/cases-in-order.ts';
import { secretOf } from '#support/config-folder.ts';
import { describeIf } from '#support/describe-if.ts';
import { SignedClient } from '#support/signed-client.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { type EventReader, PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const KILLS = { name: 'kills', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }] };

const isExcluded = excludedEngines(process.env).includes('postgres');
const whyNot = isExcluded ? 'PostgreSQL is not among the engines of this run' : await whyNoBrowser();

/** A server of this file alone, which is stopped while the pages are open. */
describeIf(whyNot, 'the database is away', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let servers: TestServers;
  let panel: TestPanel;
  let api: SignedClient;
  let browser: TestBrowser;
  let page: Page;
  let stream: EventReader;

  beforeAll(async () => {
    servers = await startServers({ engines: ['postgres'], isPrivate: true });
    if (servers.postgres === undefined) throw new Error(String(servers.missing.postgres));
    const { url } = servers.postgres;
    panel = await startTestPanel({
      config: { writeBehind: { namespaces: { stats: {} }, flushIntervalMs: 50 } },
      database: { settings: { provider: 'postgres', url }, drop: async () => {} },
      settings: { backend: 'none', dashboardName: 'Harbour RP' },
    });
    api = new SignedClient({ address: panel.apiAddress, kid: 'local', secret: secretOf('local') });
    await api.must('schema.sync', { namespace: 'stats', schema: { tables: [KILLS] } });
    stream = await panel.events(await panel.owner());
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await api?.close();
    await panel?.stop();
    await servers?.stop();
  });

  const rail = () => page.locator('.rail .rail-state');

  it('says on every page since when, how many writes wait, why, and where to look', async () => {
    await rail().getByText('Database: OK').waitFor();
    await servers.postgres?.stop();
    for (const id of [1, 2, 3]) await api.must('insert', { namespace: 'stats', table: 'kills', rows: [{ id }] });
    await rail()
      .getByText(/^Database: unreachable since \d\d:\d\d, 3 writes wait$/)
      .waitFor();
    for (const name of ['Overview', 'Console', 'Settings', 'Database']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      const banner = page.getByRole('alert').filter({ hasText: 'Database: unreachable since' });
      await banner.getByText(/^Cause: the database failed/).waitFor();
      await banner.getByRole('link', { name: 'Write queue' }).waitFor();
    }
    await expectAccessible(page);
  });

  it('leaves a phone most of its screen', async () => {
    const phone = await browser.visit(panel.address, { width: 390 });
    await signIn(phone, 'owner', PASSWORD);
    const banner = phone.getByRole('alert').filter({ hasText: 'Database: unreachable since' });
    await banner.getByText(/^Cause: the database failed/).waitFor();
    await banner.getByRole('link', { name: 'Write queue' }).waitFor();
    expect((await banner.boundingBox())?.height).toBeLessThanOrEqual(130);
    await expect.poll(() => phone.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(phone);
  });

  it('shows the failed calls of the API in red', async () => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click();
    const failed = page.getByRole('figure').filter({ hasText: 'Calls of the API' }).locator('.is-bad');
    // Again and again: a sample that the panel takes by itself meanwhile would show none.
    const shown = async () => {
      await api.call('find', { namespace: 'stats', table: 'kills' });
      await panel.services.charts.sample();
      return failed.textContent({ timeout: 1000 }).catch(() => null);
    };
    await expect.poll(shown).toMatch(/^[\d.]+\/s$/);
  });

  it('tells a stream that is opened meanwhile, and all of them when it is back', async () => {
    const later = await panel.events(await panel.owner());
    await expect.poll(() => later.of('health')).toMatchObject([{ pendingWrites: 3 }]);
    await servers.postgres?.start();
    await rail().getByText('Database: OK').waitFor();
    await page.getByText('Database: unreachable').waitFor({ state: 'detached' });
    await expect.poll(() => (stream.of('health').at(-1) as DatabaseHealth).unreachableSince).toBeNull();
    expect(browser.complaints).toEqual([]);
  });
});
