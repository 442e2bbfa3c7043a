import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const LONG = '12913-a-version-with-the-long-name-that-an-owner-gave-it';

describeIf(why, 'the page of updates', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    const serverRoot = testFolder();
    mkdirSync(join(serverRoot, 'server-updates/inbox', LONG), { recursive: true });
    writeFileSync(join(serverRoot, 'server-updates/inbox', LONG, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    panel = await startTestPanel({ settings: { backend: 'command', serverRoot, startLine: '{server}/run.sh' } });
    await panel.owner();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    await signIn(page, 'owner', PASSWORD);
    await page.goto(`${panel.address}/#/updates`);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
  });

  it('unpacks a version of the game server, chooses it for the next start, and takes that back', async () => {
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: LONG }) });
    await row.getByRole('button', { name: 'Unpack' }).click();
    await row.getByText('unpacked').waitFor();
    await row.getByRole('button', { name: 'At the next start' }).click();
    await page.getByRole('dialog').getByText('the version before it is started in its place').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'At the next start' }).click();
    await row.getByText('at the next start', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Take back the choice' }).click();
    await row.getByText('unpacked').waitFor();
  });

  it('says what to do: with nothing newer, and for a panel that cannot replace itself', async () => {
    await page.getByText('There is no newer release here. Upload one below').waitFor();
    await page.getByText('start it with node keeper.js in place of node main.js').waitFor();
  });

  it('tells a failed job from one that is under way, and offers no cancel that is refused', async () => {
    const job = { id: 'j', kind: 'updates.apply', by: 'owner', subjects: [], outcome: null, progress: 0.5 };
    const times = { queuedAt: new Date().toISOString(), startedAt: null, endedAt: null };
    const answer = async (status: object, updates: object) => {
      await page.route('**/api/updates', async (route) => {
        const response = await route.fetch();
        const shown = (await response.json()) as { updates: object };
        await route.fulfill({ response, json: { ok: true, status, updates: { ...shown.updates, ...updates } } });
      });
      await page.reload();
    };
    const running = { ...job, ...times, state: 'running', message: 'waits for 9.9.9', error: null, canCancel: true };
    await answer(running, { isApplying: true });
    await page.getByText('waits for 9.9.9').waitFor();
    await page.getByRole('progressbar').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await answer({ ...running, state: 'failed', message: 'app.js: other hash', error: 'update.invalid' }, {});
    const notice = page.locator('.notice.bad').filter({ hasText: 'This is not a whole release of the panel.' });
    await notice.getByText('app.js: other hash').waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await page.reload();
  });

  it('refuses a file that is no release, with the reason', async () => {
    const file = { name: 'sidecar-9.9.9.zip', mimeType: 'application/zip', buffer: Buffer.from('no archive') };
    await page.getByLabel('Upload a release').setInputFiles(file);
    await page.getByRole('alert').getByText('it is no ZIP that can be read').waitFor();
    await expectAccessible(page);
  });

  it('offers the db_connector of this release, and replaces the one of the server', async () => {
    const folder = join(panel.services.settings.values.serverRoot, 'bundles/db_connector');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bundle.json'), '{"version":"0.0.1"}');
    await page.reload();
    await page.getByText('The server has db_connector 0.0.1').waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Replace now' }).click();
    await page.getByRole('heading', { name: 'Replace db_connector · db_connector' }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    expect(readFileSync(join(folder, 'bundle.json'), 'utf8')).not.toContain('0.0.1');
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
