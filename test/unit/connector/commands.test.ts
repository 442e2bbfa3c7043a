import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectHost } from '../../../db_connector/host/detect.ts';
import start from '../../../db_connector/host/standalone/server.ts';
import { FakeServer, Rig, SECRET } from '../../support/connector-rig.ts';
import { answers, LyingServer, silent, unsigned } from '../../support/lying-server.ts';

let api: LyingServer;
let rig: Rig;

beforeEach(async () => {
  api = await LyingServer.start(SECRET);
  rig = new Rig({ url: api.url, namespaces: ['game', 'stats'], maxConcurrent: 2 });
});

afterEach(async () => {
  await rig.stop();
  await api.close();
});

describe('db-status', () => {
  it('prints aligned lines', async () => {
    await rig.command('db-reload');
    expect(await rig.command('db-status')).toEqual([
      `url           ${api.url}`,
      'key id        local',
      'namespaces    game, stats',
      'queued        0',
      'in flight     0 of 2',
      'circuit       closed',
      'clock offset  0 s',
    ]);
  });

  it('prints one object for programs, with what waits and what runs', async () => {
    api.otherwise = silent;
    for (let call = 0; call < 5; call += 1) {
      rig.call('find', { namespace: 'game', table: 't' });
    }
    expect(await rig.status()).toEqual({
      url: api.url,
      keyId: 'local',
      namespaces: ['game', 'stats'],
      queued: 3,
      inFlight: 2,
      circuit: 'closed',
      clockOffsetSeconds: expect.any(Number),
    });
  });

  it('says why there is no configuration', async () => {
    const broken = new Rig('{}');
    expect(await broken.command('db-status')).toEqual(['not configured  url: expected a text, got nothing']);
    expect(await broken.status()).toMatchObject({ url: null, notConfigured: 'url: expected a text, got nothing' });
    expect(broken.server.lines).toEqual([
      'not configured: url: expected a text, got nothing; mend that, then type db-reload',
    ]);
    expect(await broken.command('db-health')).toEqual([
      'not configured: url: expected a text, got nothing; mend that, then type db-reload',
    ]);
    await broken.stop();
  });

  it('never shows the secret, nor does anything else', async () => {
    api.otherwise = unsigned(401, 'unauthorized');
    await rig.run('find', { namespace: 'game', table: 't' });
    const said = [...rig.server.lines];
    for (const [name, ...args] of [['db-status'], ['db-status', 'json'], ['db-health'], ['db-reload']]) {
      said.push(...(await rig.command(String(name), ...args)));
    }
    expect(said.length).toBeGreaterThan(10);
    expect(said.join('\n')).not.toContain(SECRET.slice(0, 8));
  });
});

describe('db-health', () => {
  it('prints what a signed health check answers', async () => {
    api.script = [
      answers('{"status":"ok","provider":"sqlite","database":true,"writeBuffer":{"enabled":false,"pending":0}}'),
    ];
    expect(await rig.command('db-health')).toEqual([
      `url           ${api.url}`,
      'answer        signed, status 200',
      expect.stringMatching(/^took {10}\d+ ms$/),
      'status        ok',
      'provider      sqlite',
      'database      true',
      'write buffer  off',
    ]);
    expect(api.seen.map(({ path, envelope }) => [path, envelope.payload])).toEqual([['/v1/health', '{}']]);
  });

  const LOG =
    "Nothing is lost, and the sidecar's log says why: a database that takes no writes (it goes on by itself once that does), or another sidecar that owns the queue (main.js queue list)";
  it.each([
    [{ enabled: true, pending: 0, oldestAgeSeconds: 0, halted: false, deadLetters: 0 }, ['nothing waits']],
    [
      { enabled: true, pending: 1, oldestAgeSeconds: 1, halted: false, deadLetters: 0 },
      ["1 write waits on the sidecar's disk, the oldest for 1 s"],
    ],
    [
      { enabled: true, pending: 12_345, oldestAgeSeconds: 185, halted: true, deadLetters: 0 },
      [`HALTED: 12,345 writes wait on the sidecar's disk, the oldest for 3 min 05 s. ${LOG}`],
    ],
    [
      { enabled: true, available: false, pending: 0, oldestAgeSeconds: 0, halted: false, deadLetters: 0 },
      [
        'REFUSES WRITES: the sidecar cannot write its journal (is the disk full?), and tries again by itself; nothing waits',
      ],
    ],
    [
      { enabled: true, pending: 2, oldestAgeSeconds: 7620, halted: false, deadLetters: 3 },
      [
        "2 writes wait on the sidecar's disk, the oldest for 2 h 07 min",
        "dead letters  3 writes that could not be applied; on the sidecar's machine: main.js dead-letters list --config FILE",
      ],
    ],
  ])('says in plain words how the write buffer is: %j', async (writeBuffer, [first, ...others]) => {
    api.script = [answers(JSON.stringify({ status: 'ok', writeBuffer }))];
    const lines = await rig.command('db-health');
    expect(lines.slice(lines.indexOf('status        ok') + 1)).toEqual([`write buffer  ${first}`, ...others]);
  });

  it('prints the code of what fails, and does not count for the circuit breaker', async () => {
    api.otherwise = unsigned(500, 'internal_error');
    for (let round = 0; round < 6; round += 1) {
      expect(await rig.command('db-health')).toContainEqual(expect.stringMatching(/^answer {2}bad_signature: .+/));
    }
    expect((await rig.status()).circuit).toBe('closed');
  });
});

describe('the bundle', () => {
  it('registers its exports and commands on the standalone server at once', async () => {
    const server = new FakeServer(rig.folder);
    const stop = start(server);
    expect([...server.registered.keys()]).toEqual(['Call', 'TakeResult', 'ClockOffset']);
    expect([...server.commandRuns.keys()]).toEqual(['db-status', 'db-health', 'db-reload']);
    await stop();
  });

  it('refuses a server that it does not know', () => {
    expect(() => detectHost(undefined)).toThrow('does not know this game server');
    expect(() => detectHost({ name: 'x' })).toThrow('does not know this game server');
  });
});
