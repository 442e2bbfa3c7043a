import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bridge } from '#panel/bridge/bridge.ts';
import { BridgeDiagnostics, type BridgeLog, openBridgeLog } from '#panel/bridge/bridge-log.ts';
import type { DiagnosticLine } from '#panel/console/diagnostics.ts';
import { PanelSettings } from '#panel/settings/panel-settings.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { runBridgeSend } from '#sidecar/commands/bridge-send.ts';
import { Log } from '#sidecar/log.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
let store: PanelStore;
let bridge: Bridge;
let lines: BridgeLog;
let settings: PanelSettings;
let token: string;
let nowMs: number;
const logged: string[] = [];

beforeEach(async () => {
  folder = testFolder();
  nowMs = Date.parse('2026-05-01T12:00:00Z');
  store = openPanelStore(join(folder, 'panel.sqlite'));
  logged.length = 0;
  settings = new PanelSettings(store);
  lines = await openLines();
  bridge = open(settings);
  token = bridge.tokens.create('box two').token;
  await bridge.change({ enabled: true, port: 0 });
});

afterEach(async () => {
  await bridge.close();
  await lines.close();
  store.close();
});

function openLines(): Promise<BridgeLog> {
  const onTrouble = (message: string) => logged.push(message);
  return openBridgeLog({ folder: join(folder, 'bridge'), now: () => nowMs, onTrouble }, settings);
}

function open(settings = new PanelSettings(store)): Bridge {
  return new Bridge({
    ...{ store, settings, lines, host: '127.0.0.1' },
    log: new Log({ write: (line) => logged.push(line) }),
    now: () => nowMs,
    monotonicNow: () => nowMs,
  });
}

const line = (text: string, changes: object = {}): string =>
  JSON.stringify({ time: '2026-05-01T11:59:59Z', level: 'warn', module: 'game', text, ...changes });

async function send(body: string, changes: { token?: string; method?: string; path?: string } = {}) {
  const response = await fetch(`http://127.0.0.1:${(await bridge.status()).port}${changes.path ?? '/lines'}`, {
    method: changes.method ?? 'POST',
    headers: { authorization: `Bearer ${changes.token ?? token}` },
    ...(changes.method === 'GET' ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as { error?: string } };
}

/** As diagnostics show them, oldest first. */
async function kept(): Promise<DiagnosticLine[]> {
  const found: DiagnosticLine[] = [];
  const source = new BridgeDiagnostics(lines);
  for await (const piece of source.newestFirst(Number.POSITIVE_INFINITY, true)) found.unshift(...piece.toReversed());
  return found;
}

describe('POST /lines', () => {
  it.each([
    ['no such token', { token: 'x'.repeat(43) }, 401],
    ['another path', { path: '/api/status' }, 404],
    ['a query', { path: '/lines?x=1' }, 404],
    ['another method', { method: 'GET' }, 405],
  ])('refuses %s, and keeps nothing', async (_what, changes, status) => {
    expect((await send(line('x'), changes)).status).toBe(status);
    expect(await kept()).toEqual([]);
  });

  it.each([
    ['what is no JSON', 'hello'],
    ['an unknown level', line('x', { level: 'loud' })],
    ['no text', line('x', { text: 5 })],
    ['no time', line('x', { time: 'yesterday' })],
    ['a module without end', line('x', { module: 'm'.repeat(65) })],
    ['null', 'null'],
  ])('refuses a body with %s whole, and names the line', async (_what, second) => {
    const { status, body } = await send(`${line('first')}\n${second}\n`);
    expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringMatching(/^line 2: expected/) });
    expect(await kept()).toEqual([]);
  });

  it('refuses more than a megabyte before it is read to its end', async () => {
    expect((await send('x'.repeat(1_100_000))).status).toBe(413);
  });

  it('serves a machine while idle connections of its address take all places', async () => {
    const { port } = await bridge.status();
    const idle = Array.from({ length: 100 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const closed = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    expect((await send(line('x'))).status).toBe(200);
    // Also those within the bound.
    await Promise.all(closed);
  });

  it('lets an address wait after ten wrong tokens, with the right one too, and no longer than a quarter of an hour', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await send('', { token: 'y'.repeat(43) })).status).toBe(401);
    const refused = await send(line('x'));
    expect({ status: refused.status, after: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      after: '900',
    });
    nowMs += 900_001;
    expect((await send(line('x'))).status).toBe(200);
  });

  it('keeps lines with the name of their machine, and nothing that a terminal or a page would obey', async () => {
    const hostile = line('two\u0000\u001b[31m\u001b[2J\u2028<b>', { module: 'a b/ü', level: 'error' });
    expect((await send(`${line('one')}\n\n${hostile}\n`)).status).toBe(200);
    const [one, two] = await kept();
    expect(one).toMatchObject({ source: 'bridge', level: 'warn', module: 'game', text: 'box two: one' });
    expect(two).toMatchObject({ level: 'error', module: 'a b/ü', text: 'box two: two\u2400\u2424<b>' });
    expect(await bridge.status()).toMatchObject({ enabled: true, listening: true, peers: 1 });
    nowMs += 300_001;
    expect((await bridge.status()).peers).toBe(0);
  });

  it('takes nothing with a token that was revoked', async () => {
    bridge.tokens.revoke(bridge.tokens.list()[0]?.id as number);
    expect((await send(line('x'))).status).toBe(401);
    expect(() => bridge.tokens.revoke(1)).toThrow('bridge.unknown');
  });

  it('keeps at most so many megabytes, the newest', async () => {
    await bridge.change({ maxMegabytes: 3 });
    const big = Array.from({ length: 60 }, () => line('x'.repeat(16_000))).join('\n');
    for (let batch = 0; batch < 6; batch += 1) await send(`${big}\n${line(`end of ${batch}`)}\n`);
    await expect.poll(async () => (await bridge.status()).megabytes).toBeLessThanOrEqual(3);
    expect((await kept()).at(-1)?.text).toBe('box two: end of 5');
  });
});

describe('its settings', () => {
  it.each([
    ['enabled', { enabled: 'yes' }],
    ['port', { port: 65_536 }],
    ['retentionDays', { retentionDays: 0 }],
    ['maxMegabytes', { maxMegabytes: 1.5 }],
  ])('refuse a bad %s by its name', async (field, change) => {
    const before = await bridge.status();
    await expect(bridge.change(change)).rejects.toMatchObject({ key: `bridge.${field}`, details: { field } });
    expect(await bridge.status()).toEqual(before);
  });

  it('switch it off and on at once, and it stays as it was told after a restart', async () => {
    const { port } = await bridge.status();
    await bridge.change({ enabled: false });
    await expect(fetch(`http://127.0.0.1:${port}/lines`)).rejects.toThrow();
    await bridge.change({ enabled: true, port });
    await bridge.close();
    bridge = open();
    expect(await bridge.status()).toMatchObject({ enabled: true, listening: false });
    await bridge.apply();
    expect(await bridge.status()).toMatchObject({ listening: true, port });
    expect((await send(line('again'))).status).toBe(200);
  });

  it('say why it does not listen, in place of ending anything', async () => {
    const other = open();
    await other.change({ enabled: true, port: (await bridge.status()).port });
    expect(await other.status()).toMatchObject({
      listening: false,
      problem: expect.stringContaining('the port is in use'),
    });
    expect(logged.join('\n')).toContain('the bridge does not listen');
    await other.close();
  });
});

describe('bridge-send', () => {
  const told: string[] = [];

  beforeEach(() => {
    told.length = 0;
  });

  function run(args: readonly string[], text: string, environment: Record<string, string> = { BRIDGE_TOKEN: token }) {
    const input = new PassThrough();
    input.end(text);
    return runBridgeSend(args, { environment }, { input, printError: (one) => told.push(one) });
  }

  it.each([
    ['no url', [], /--url/],
    ['a url with a password', ['--url', 'http://a:b@127.0.0.1:1'], /--url/],
    ['an unknown level', ['--url', 'http://127.0.0.1:1', '--level', 'loud'], /--level/],
    ['an unknown option', ['--token', 'x'], /token/],
  ])('refuses %s', async (_what, args, message) => {
    await expect(run(args, '')).rejects.toThrow(message);
  });

  it('refuses to start without a token', async () => {
    await expect(run(['--url', 'http://127.0.0.1:1'], '', {})).rejects.toThrow(/--token-file/);
  });

  it('hands over every line in order, also more than one batch holds', async () => {
    const texts = Array.from({ length: 1234 }, (_value, index) => `line ${index}`);
    const url = `http://127.0.0.1:${(await bridge.status()).port}`;
    expect(await run(['--url', url, '--module', 'game', '--level', 'info'], `${texts.join('\n')}\n`)).toBe(true);
    const arrived = await kept();
    expect(arrived.map(({ text }) => text)).toEqual(texts.map((text) => `box two: ${text}`));
    expect(arrived[0]).toMatchObject({ module: 'game', level: 'info' });
  });

  it('waits for a bridge that is away, and says so once', async () => {
    const { port } = await bridge.status();
    await bridge.change({ enabled: false });
    const sent = run(['--url', `http://127.0.0.1:${port}`], 'one\ntwo\n');
    await expect.poll(() => told).toEqual([expect.stringContaining('cannot be reached: ECONNREFUSED; trying again')]);
    await bridge.change({ enabled: true, port });
    expect(await sent).toBe(true);
    expect((await kept()).map(({ text }) => text)).toEqual(['box two: one', 'box two: two']);
    expect(told.at(-1)).toContain('takes lines again');
  });

  it('ends with what is missing where the token is wrong, and never shows it', async () => {
    const url = `http://127.0.0.1:${(await bridge.status()).port}`;
    const wrong = 'z'.repeat(43);
    expect(await run(['--url', url], 'one\n', { BRIDGE_TOKEN: wrong })).toBe(false);
    expect(told.join('\n')).toMatch(/refused with 401[\s\S]*1 lines did not arrive/);
    expect(told.join('\n')).not.toContain(wrong);
  });
});
