import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { casesInOrder } from '#support/cases-in-order.ts';
import { describeIf } from '#support/describe-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { expectAccessible, type Page, signIn, TestBrowser, whyNoBrowser } from '../support/browser.ts';
import { PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

const why = await whyNoBrowser();
const ZOE = { id: 7, name: 'Zoë \u202e<b>"x"</b>; quit', ping: 31 };
const MAX = { id: 12, name: 'Max', ping: 1204 };

describeIf(why, 'the page of players', () => {
  const { afterAll, beforeAll, it } = casesInOrder();
  let panel: TestPanel;
  let game: Server;
  let browser: TestBrowser;
  let page: Page;
  /** null: the server does not answer. */
  let players: readonly object[] | null;

  beforeAll(async () => {
    players = [];
    game = createServer((request, response) => {
      if (request.url === '/info.json') response.end('{"resources":[]}');
      else if (players === null) response.writeHead(404).end();
      else response.end(JSON.stringify(players));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => game.once('listening', resolve));
    const serverRoot = join(testFolder(), 'game');
    mkdirSync(serverRoot);
    const { port } = game.address() as AddressInfo;
    writeFileSync(join(serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
    panel = await startTestPanel({
      settings: { backend: 'fxserver', serverRoot, startLine: fakeLine(), stopLine: 'quit' },
    });
    await panel.owner();
    browser = await TestBrowser.start();
    page = await browser.visit(panel.address, { width: 390 });
    await signIn(page, 'owner', PASSWORD);
  });

  afterAll(async () => {
    await browser?.close();
    await panel?.stop();
    game?.close();
  });

  const isNarrow = async () =>
    expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

  it('says that nothing runs, and shows the players once the server does', async () => {
    await page.goto(`${panel.address}/#/players`);
    await page.getByText('The server does not run').waitFor();
    await expectAccessible(page);
    panel.services.server.control.start('owner');
    await page.getByText('Nobody is playing now').waitFor();
    players = [ZOE, MAX];
    await page.reload();
    await page.getByRole('heading', { name: '2 players' }).waitFor();
    const rows = page.getByRole('table', { name: 'Players' }).getByRole('row');
    const texts = async () => (await rows.allTextContents()).slice(1);
    await expect.poll(texts).toEqual([`${ZOE.name}731 msKick`, 'Max121,204 msKick']);
    await isNarrow();
    await expectAccessible(page);
  });

  it('kicks a player with a reason that can be typed', async () => {
    await page.getByRole('row', { name: 'Max' }).getByRole('button', { name: 'Kick' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kick Max' });
    const reason = dialog.getByLabel('Reason');
    const kick = dialog.getByRole('button', { name: 'Kick' });
    await kick.click();
    await dialog.getByText('Write a reason').waitFor();
    await reason.fill('see "you"; quit');
    await kick.click();
    await dialog.getByText('Write a reason').waitFor();
    await isNarrow();
    await expectAccessible(page);
    await reason.fill('come back later');
    await kick.click();
    await page.getByText('Max was kicked.').waitFor();
    const typed = () => panel.services.logs.console.latest(20).map(({ text }) => text);
    const kicks = () => typed().filter((text) => text.includes('clientkick'));
    // The line that was typed, and the server's answer to it.
    await expect.poll(kicks).toHaveLength(2);
    expect(kicks()).toContain('owner> clientkick 12 "come back later"');
  });

  it('says that the player has left, and that the server reports nobody', async () => {
    players = [ZOE, MAX];
    await page.reload();
    await page.getByRole('row', { name: 'Max' }).getByRole('button', { name: 'Kick' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kick Max' });
    players = [ZOE];
    await dialog.getByLabel('Reason').fill('no');
    await dialog.getByRole('button', { name: 'Kick' }).click();
    await dialog.getByText('This player has left').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: '1 player' }).waitFor();
    players = null;
    await page.reload();
    await page.getByText('The server does not say who plays').waitFor();
    await isNarrow();
    await expectAccessible(page);
    players = [ZOE];
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: '1 player' }).waitFor();
  });

  it('offers no kick to an account without the permission, and is not listed for another kind of server', async () => {
    await panel.account('reader', ['console.read']);
    const reader = await browser.visit(panel.address);
    await signIn(reader, 'reader', PASSWORD);
    const pages = reader.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Players' }).click();
    await reader.getByRole('heading', { name: '1 player' }).waitFor();
    await expect.poll(() => reader.getByRole('button', { name: 'Kick' }).count()).toBe(0);
    panel.services.server.control.forceStop('owner');
    await reader.getByText('The server does not run').waitFor();
    panel.services.settings.update({ backend: 'command' });
    await reader.getByText('This kind of server does not report its players').waitFor();
    await expect.poll(() => pages.getByRole('link', { name: 'Players' }).count()).toBe(0);
  });

  it('has made no page complain', () => expect(browser.complaints).toEqual([]));
});
