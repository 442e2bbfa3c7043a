import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectHost } from '#connector/host/detect.ts';
import start from '#connector/host/standalone/server.ts';
import { FakeServer, Rig, SECRET } from '#support/connector-rig.ts';
import { answers, LyingServer, silent, unsigned } from '#support/lying-server.ts';

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

const IS_IN_WORKER = process.env.TEST_THREAD === 'worker';

describe('db-status', () => {
  it('prints aligned lines', async () => {
    await rig.command('db-reload');
    expect(await rig.command('db-status')).toEqual([
      `url           ${api.url}`,
      'key id        local',
      'namespaces    game, stats',
      'queued        0',
      'in flight     0 of 2',
      'transport     POST; a stream opens once the sidecar has answered, if it offers one',
      expect.stringMatching(IS_IN_WORKER ? /^worker {8}running: / : /^worker {8}off: /),
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
      transport: 'post',
      worker: IS_IN_WORKER ? 'running' : 'off',
      clockOffsetSeconds: expect.any(Number),
      addresses: [
        {
          url: api.url,
          isCurrent: true,
          trouble: null,
          askedSecondsAgo: null,
          circuit: 'closed',
          transport: 'post',
          clockOffsetSeconds: expect.any(Number),
        },
      ],
      callers: [{ caller: 'shop', calls: 5, errors: 0, refused: 0, p95Ms: 0 }],
    });
  });

  it('shows what each caller has asked, and how it fared', async () => {
    api.script = [answers('{"count":1}'), unsigned(400, 'invalid_request')];
    await rig.run('count', { namespace: 'game', table: 't' });
    await rig.run('count', { namespace: 'game', table: 't' });
    rig.call('count', { namespace: 'elsewhere', table: 't' });
    const lines = await rig.command('db-status');
    expect(lines.slice(-2)).toEqual([
      'caller  calls  errors  refused  95 % faster than',
      expect.stringMatching(/^shop +2 +1 +1 +\d+ ms$/),
    ]);
  });

  it('says why there is no configuration', async () => {
    const broken = new Rig('{}');
    expect(await broken.command('db-status')).toEqual(['not configured  url: expected a text, got nothing']);
    expect(await broken.status()).toMatchObject({ url: null, notConfigured: 'url: expected a text, got nothing' });
    expect(broken.server.lines).toEqual([
      'not configured: url: expected a text, got nothing; fix that, then type db-reload',
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

describe('the bundle', () => {
  it('registers its exports and commands on the standalone server at once', async () => {
    const server = new FakeServer(rig.folder);
    const stop = start(server);
    expect([...server.registered.keys()]).toEqual(['Call', 'TakeResult', 'CallMany', 'TakeMany', 'ClockOffset']);
    expect([...server.commandRuns.keys()]).toEqual(['db-status', 'db-health', 'db-reload']);
    await stop();
  });

  it('refuses a server that it does not know', () => {
    expect(() => detectHost(undefined)).toThrow('does not know this game server');
    expect(() => detectHost({ name: 'x' })).toThrow('does not know this game server');
  });
});
