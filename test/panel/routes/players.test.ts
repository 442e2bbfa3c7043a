import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { fakeLine } from '../support/server-rig.ts';

const ZOE = { id: 7, name: 'Zoë ^1"x"; quit', ping: 31 };
let panel: TestPanel;
let owner: PanelClient;
let game: Server;
/** Body of `players.json`; null: the path is closed. */
let answer: string | null = '[]';

beforeAll(async () => {
  game = createServer((request, response) => {
    if (request.url === '/info.json') response.end('{"resources":["chat"]}');
    else if (answer === null) response.writeHead(404).end();
    else response.end(answer);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => game.once('listening', resolve));
  const serverRoot = join(testFolder(), 'game');
  mkdirSync(serverRoot);
  const { port } = game.address() as AddressInfo;
  writeFileSync(join(serverRoot, 'server.cfg'), `endpoint_add_tcp "0.0.0.0:${port}"\n`);
  panel = await startTestPanel({
    settings: { backend: 'fxserver', serverRoot, startLine: fakeLine(), stopLine: 'quit' },
  });
  owner = await panel.owner();
});

afterAll(async () => {
  await panel.stop();
  game.close();
});

function typed(): string[] {
  return panel.services.logs.console
    .latest(1000)
    .filter(({ stream, text }) => stream === 'in' && text.includes('clientkick'))
    .map(({ text }) => text);
}

function kick(body: object) {
  return owner.post('/api/players/kick', { id: ZOE.id, name: ZOE.name, reason: 'come back later', ...body });
}

describe('players', () => {
  it('are unavailable while nothing runs', async () => {
    expect(await owner.get('/api/players')).toMatchObject({ status: 409, body: { error: 'players.unavailable' } });
    expect(await kick({})).toMatchObject({ status: 409, body: { error: 'players.unavailable' } });
  });

  it('are those that the server reports at that moment', async () => {
    await owner.post('/api/server/start');
    await expect.poll(() => panel.services.server.control.status().state, { timeout: 20_000 }).toBe('running');
    expect((await owner.get('/api/players')).body).toEqual({ ok: true, players: [] });
    answer = JSON.stringify([{ ...ZOE, endpoint: '10.1.1.1:1', identifiers: ['license:1'] }, { id: -1, name: 'x' }, 3]);
    expect((await owner.get('/api/players')).body).toEqual({ ok: true, players: [ZOE] });
  });

  it.each(['', '  ', 'a"b', "a'b", 'a;b', 'a$b', 'a\\b', 'a\nb', 'a\u0000b', 'x'.repeat(201)])(
    'are not kicked for %j',
    async (reason) => {
      expect(await kick({ reason })).toMatchObject({ status: 400, body: { error: 'players.reason' } });
      expect(typed()).toEqual([]);
    },
  );

  it('are kicked only if the id still has the name', async () => {
    expect(await kick({ name: 'Zoe' })).toMatchObject({ status: 409, body: { error: 'players.gone' } });
    expect(await kick({ id: 8 })).toMatchObject({ status: 409, body: { error: 'players.gone' } });
    expect(typed()).toEqual([]);
  });

  it('are kicked by a line of the console, by accounts with the permission alone', async () => {
    const reader = await panel.account('reader', ['console.read', 'console.write']);
    expect(await reader.post('/api/players/kick', { ...ZOE, ping: undefined, reason: 'no' })).toMatchObject({
      status: 403,
      body: { error: 'permission.missing' },
    });
    expect(typed()).toEqual([]);
    expect(await kick({})).toMatchObject({ status: 200 });
    expect(typed()).toEqual([expect.stringMatching(/> clientkick 7 "come back later"$/)]);
  });

  it('are unavailable if the server closes that path, or answers nonsense', async () => {
    for (const nonsense of [null, '{}', '[', `["${'x'.repeat(1_100_000)}"]`]) {
      answer = nonsense;
      expect(await owner.get('/api/players')).toMatchObject({ status: 409, body: { error: 'players.unavailable' } });
    }
  });
});
