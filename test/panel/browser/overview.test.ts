import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const why = await whyNoBrowser();
const PROGRAM = fileURLToPath(new URL('../support/fake-game-server.ts', import.meta.url));

/** A server that ignores its stop line and SIGTERM: the whole plan is seen. */
describeIf(why, 'Overview', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let home: string;
  let panel: TestPanel;
  let browser: TestBrowser;
  let page: Page;
  const server = () => page.getByRole('region', { name: 'Server' });
  const state = () => server().getByRole('status').textContent();
  const press = (name: string) => server().getByRole('button', { name, exact: true }).click();

  beforeAll(async () => {
    home = testFolder();
    panel = await startTestPanel({
      settings: {
        ...{ backend: 'command', serverRoot: home, stopLine: 'quit', stopWaitSeconds: 600, killWaitSeconds: 600 },
        startLine: `"${process.execPath}" "${PROGRAM}" --ignore-stop --ignore-sigterm`,
      },
    });
    await panel.owner();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address);
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    panel?.services.server.control.forceStop('test');
    await browser?.close();
    await panel?.stop();
  });

  it('counts down what will be done to a server that does not stop, and overtakes it on request', async () => {
    await press('Start');
    await expect.poll(state).toBe('Running');
    await press('Stop');
    const plan = server().getByRole('list', { name: 'What happens next' });
    await expect
      .poll(() => plan.getByRole('listitem').allTextContents())
      .toMatchObject([
        'Asked to stop',
        expect.stringMatching(/^Terminating in (10|9) min$/),
        expect.stringMatching(/^Killing in (20|19) min$/),
      ]);
    await expect.poll(() => plan.locator('[aria-current=step]').textContent()).toMatch(/^Terminating/);
    await expect.poll(state).toBe('Stopping');
    await expectAccessible(page);
    await press('Force stop');
    await expect.poll(state).toBe('Stopped');
    await expect.poll(() => plan.count()).toBe(0);
  });

  it('says of a server that cannot be started where to look', async () => {
    const { startLine } = panel.services.settings.values;
    panel.services.settings.update({ startLine: '/not/there' });
    await press('Start');
    await expect.poll(state).toBe('Crashed');
    await server().getByText('The server could not start: the program "/not/there" was not found.').waitFor();
    await expect.poll(() => server().getByText('The server crashed.').count()).toBe(0);
    await press('Force stop');
    panel.services.settings.update({ startLine });
  });

  it('leads to the settings of a server that is not configured', async () => {
    const { startLine } = panel.services.settings.values;
    panel.services.settings.update({ startLine: '' });
    await expect.poll(state).toBe('Not configured');
    await expect.poll(() => server().getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await server().getByRole('link', { name: 'Open Settings' }).click();
    await page.getByLabel('Start command').waitFor();
    panel.services.settings.update({ startLine });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click();
    await expect.poll(state).toBe('Stopped');
  });

  it('shows a crash, its reason, and the way to its record; a start by hand goes on', async () => {
    await press('Start');
    await expect.poll(state).toBe('Running');
    process.kill(panel.services.server.control.status().pid as number, 'SIGSEGV');
    await expect.poll(state).toBe('Crashed');
    await server().getByText('Ended by SIGSEGV').waitFor();
    await server().getByRole('link', { name: 'Crash records' }).waitFor();
    await expectAccessible(page);
    await press('Start');
    await expect.poll(state).toBe('Running');
    await press('Force stop');
    await expect.poll(state).toBe('Stopped');
  });

  it('draws what the panel has noted, under its policy, and remembers the range', async () => {
    const drawings = page.getByRole('figure');
    await expect.poll(() => drawings.count()).toBeGreaterThanOrEqual(4);
    await drawings.filter({ hasText: 'Memory' }).locator('canvas').waitFor();
    await page.getByRole('complementary').getByText('Crashed').first().waitFor();
    await expectAccessible(page);
    const range = (name: string) => page.getByRole('button', { name, exact: true });
    await range('6 hours').click();
    await page.reload();
    await expect.poll(() => range('6 hours').getAttribute('aria-pressed')).toBe('true');
  });

  it('gives an account the buttons of its permissions alone, and takes them away while it looks', async () => {
    const { accounts } = panel.services;
    const owner = accounts.idOf('owner');
    await panel.account('mo', ['server.start', 'server.stop']);
    const other = await browser.visit(panel.address, { width: 390 });
    await signIn(other, 'mo', PASSWORD);
    const buttons = other.getByRole('region', { name: 'Server' }).getByRole('button');
    await expect.poll(() => buttons.allTextContents()).toEqual(['Start', 'Stop']);
    await accounts.save(owner, { username: 'mo', permissions: ['server.stop'] });
    await expect.poll(() => buttons.allTextContents()).toEqual(['Stop']);
    await accounts.save(owner, { username: 'mo', permissions: [], enabled: false });
    await other.getByText('Your account was changed, so you were signed out.').waitFor();
  });

  it('says that the panel is away, and goes on when it is back', async () => {
    await page.context().setOffline(true);
    await page.getByText('No connection to the panel.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('No connection to the panel.').waitFor({ state: 'detached' });
    await press('Start');
    await expect.poll(state).toBe('Running');
    expect(browser.complaints).toEqual([]);
  });

  it('goes on with a new token where its own is stale', async () => {
    await page.context().clearCookies({ name: 'panel-csrf' });
    await press('Force stop');
    await expect.poll(state).toBe('Stopped');
  });

  it('never acts for another account that has signed in meanwhile in the same browser', async () => {
    const other = await browser.visit(panel.address);
    await signIn(other, 'owner', PASSWORD);
    const guest = await panel.account('guest', ['server.start']);
    const session = guest.cookies.get('panel-session') as string;
    // In place of the owner's, in one step: a request between two cookies would be without a session, and end the page.
    await other.context().addCookies([{ name: 'panel-session', value: session, url: panel.address }]);
    await other.getByRole('region', { name: 'Server' }).getByRole('button', { name: 'Start', exact: true }).click();
    await other.getByText('guest').first().waitFor();
    const { control } = panel.services.server;
    expect(control.status().state).toBe('stopped');
  });

  it('says which box it comes from, and which others use its database', async () => {
    const boxes = page.getByRole('list', { name: 'Boxes on this database' });
    await expect.poll(() => boxes.count()).toBe(0);
    const row = { instance: 'other', box: 'box2', url: 'https://10.0.0.2:20771', version: '1.2.3', seenAt: 1 };
    await panel.services.base.engine.cluster.putSidecar(row, null, { deadline: performance.now() + 10_000 });
    await boxes.waitFor();
    await page.getByText(`This page comes from ${hostname()}.`).waitFor();
    await expect
      .poll(() => boxes.getByRole('listitem').allTextContents())
      .toEqual([
        expect.stringMatching(`^Running${hostname()}this one${panel.apiAddress}`),
        'Runningbox2https://10.0.0.2:207711.2.3',
      ]);
    await expectAccessible(page);
  });

  it('names the host of the database, and warns while it is not the first of its URL', async () => {
    const { engine } = panel.services.base;
    const host = 'node-2.a-long-name-of-a-database-host.eu-central.players.example:3306';
    engine.hostInUse = () => ({ host, insteadOf: null, hasOthers: true });
    await page.getByText(`Its database is at ${host}.`, { exact: true }).waitFor();
    engine.hostInUse = () => ({ host, insteadOf: 'node-1.players.example', hasOthers: true });
    await page
      .getByText(`node-1.players.example failed or takes no writes, so the database is used at ${host}.`)
      .waitFor();
    await expectAccessible(page);
  });

  it('warns while no write of the database is acknowledged', async () => {
    const { engine } = panel.services.base;
    const { ping } = engine;
    engine.ping = async () => 'noStandby';
    const warning = page.getByText('No synchronous standby of the database confirms, so no write is acknowledged.');
    await warning.waitFor();
    engine.ping = ping.bind(engine);
    await warning.waitFor({ state: 'detached' });
  });

  it('opens the menu of a phone by keyboard, and closes it on the way to a page', async () => {
    const phone = await browser.visit(panel.address, { width: 390, theme: 'dark' });
    await signIn(phone, 'owner', PASSWORD);
    const open = phone.getByRole('button', { name: 'Open menu' });
    await open.focus();
    await phone.keyboard.press('Enter');
    await phone.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Console' }).waitFor();
    await expectAccessible(phone);
    await phone.keyboard.press('Escape');
    await expect.poll(() => phone.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Open menu');
    await open.click();
    await phone.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Console' }).click();
    await phone.getByRole('dialog', { name: 'Menu' }).waitFor({ state: 'hidden' });
    await phone.getByRole('heading', { name: 'Console' }).waitFor();
  });
});
