import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { restartEventLine, skippedEventLine } from '#panel/schedule/server-events.ts';
import { shutdownEventLine } from '#panel/server/shutdown-event.ts';
import { FxServer } from '../support/fx/fx-server.ts';
import { answers, LyingServer, silent } from '../support/lying-server.ts';
import { fxScriptHost, type Target } from '../support/script-hosts.ts';
import { startSidecar } from '../support/sidecar.ts';

const SECRET = 'a-secret-that-only-the-tests-know-0123456789';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE = { timeout: 30_000, interval: 10 };
/** Games stand still here for seconds, on machines that are busy besides. */
vi.setConfig({ testTimeout: 90_000 });
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startApi(): Promise<LyingServer> {
  const api = await LyingServer.start(SECRET);
  closing.push(() => api.close());
  return api;
}

function start(target: Target, config: readonly string[] = []) {
  const host = fxScriptHost(target, config);
  closing.push(() => host.close());
  return host;
}

describe('the fake FXServer', () => {
  it('is as unhelpful as the real one', async () => {
    const fx = new FxServer();
    closing.push(() => fx.close());
    fx.addScript(
      'a',
      "exports('kind', (value) => Object.prototype.toString.call(value)); exports('fails', () => { throw new Error('x'); });",
      [],
    );
    fx.addResource('db_connector', { 'helper.fx.js': '' });
    fx.addScript('b', "on('greet', () => { throw new Error('never seen'); });", []);
    fx.startUp(['set private 1', 'add_convar_permission a read private', 'ensure a', 'ensure b']);
    const inB = (code: string) => fx.evaluate('b', code);
    expect(inB('exports.a.kind(new Uint8Array(2)) + exports.a.kind(new ArrayBuffer(2))')).toBe(
      '[object Object][object ArrayBuffer]',
    );
    expect(() => inB('exports.a.kind(1n)')).toThrow('An error happened while calling export kind');
    expect(() => inB('exports.a.fails()')).toThrow('see above for details');
    expect(() => inB("require('child_process').spawn('true')")).toThrow('restricted');
    expect(() => inB("new (require('worker_threads').Worker)('x')")).toThrow('restricted');
    expect(() => inB("require('fs').readFileSync('/etc/hostname')")).toThrow('restricted');
    expect(inB("GetConvar('private', 'none') + GetInvokingResource()")).toBe('nonenull');
    expect(inB('IsDuplicityVersion()')).toBe(1);
    fx.emit('greet', []);
    expect(fx.lines.join()).not.toContain('never seen');
    inB(
      'Promise.resolve().then(() => GetCurrentResourceName()).catch((error) => { globalThis.told = error.message; })',
    );
    await vi.waitFor(() => expect(inB('globalThis.told')).toBe('No current resource manager.'), PATIENCE);
    // Set after a hitch and before the next tick, it counts from the tick before the hitch.
    const held = fx.hitch(0).then(() => {
      const until = performance.now() + 2100;
      while (performance.now() < until);
      inB(
        'globalThis.setAt = performance.now(); setTimeout(() => { globalThis.tookMs = performance.now() - setAt; }, 2000);',
      );
    });
    await held;
    await vi.waitFor(() => expect(inB('globalThis.tookMs')).toBeLessThan(2000), PATIENCE);
  });
});

describe('the console', () => {
  it('shows what the page for owners says', async () => {
    const page = readFileSync(`${ROOT}/docs/install-fivem.md`, 'utf8');
    const blocks = [...page.matchAll(/^```console ?(\w*)\n([\s\S]*?)^```/gm)];
    const expected = (kind: string) =>
      blocks
        .filter((block) => block[1] === kind)
        .flatMap((block) => (block[2] ?? '').trim().split('\n'))
        .map(normal);
    const normal = (line: string) =>
      line
        .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
        .replace(/data in .*/, 'data in FOLDER')
        .replace(/offset {2}-?\d+ s/, 'offset OFFSET');
    const shown = (fx: FxServer) => fx.plainLines.map(normal);

    const fx = new FxServer();
    closing.push(() => fx.close());
    cpSync(`${ROOT}/dist/db_connector`, fx.folderOf('db_connector'), { recursive: true });
    const config = [...(/```\n(add_ace[\s\S]*?)```/.exec(page)?.[1] ?? '').trim().split('\n')];
    fx.startUp([
      `set db_connector_node "${process.execPath}"`,
      ...config.filter((line) => !line.startsWith('add_unsafe')),
    ]);
    await vi.waitFor(() => expect(shown(fx)).toEqual(expect.arrayContaining(expected('denied'))), PATIENCE);
    fx.close();

    const good = new FxServer();
    closing.push(() => good.close());
    cpSync(`${ROOT}/dist/db_connector`, good.folderOf('db_connector'), { recursive: true });
    good.startUp([`set db_connector_node "${process.execPath}"`, ...config]);
    await vi.waitFor(() => expect(shown(good).join()).toContain('sidecar of this server is up'), PATIENCE);
    good.exec('db-status');
    expect(expected('').length).toBeGreaterThan(5);
    await vi.waitFor(() => expect(shown(good)).toEqual(expect.arrayContaining(expected(''))), PATIENCE);

    const { fx: external } = start({ url: 'http://127.0.0.1:9', secret: SECRET });
    expect(shown(external)).toEqual(expect.arrayContaining(expected('external')));
    expect(shown(external)).toEqual(expect.arrayContaining(expected('worker')));
    external.addResource('db_connector', { 'vfs/s.secret': SECRET });
    const shared = start({ url: 'http://127.0.0.1:9', secret: '', secretFile: 's.secret' });
    shared.fx.addResource('db_connector', { 'vfs/s.secret': SECRET });
    shared.fx.exec('db-reload');
    expect(shown(shared.fx)).toEqual(expect.arrayContaining(expected('shared')));
  });

  it('colours what is good and what is bad, and ends each colour with its line', async () => {
    const api = await startApi();
    const { fx } = start({ url: api.url, secret: SECRET });
    expect(fx.lines.join('\n')).toMatch(/\] \^2calls go to [^\n]*\^7(\n|$)/);
    fx.addResource('db_connector', { 'vfs/database.json': '{' });
    fx.exec('db-reload');
    expect(fx.lines.at(-1)).toMatch(/\] \^1the running configuration stays: [^^]*\^7$/);
  });

  it('gives a remote console what is said at once', async () => {
    const api = await startApi();
    const { fx } = start({ url: api.url, secret: SECRET });
    expect(fx.rcon('db-status').join('\n')).toContain(api.url);
  });

  it('answers a player who may ask, and no other', async () => {
    const sidecar = await startSidecar();
    closing.push(() => sidecar.stop());
    const { fx } = start({ url: sidecar.address, secret: sidecar.secret });
    fx.playerTypes(7, 'db-health');
    expect(fx.sent).toEqual([{ player: 7, event: 'console', args: ['Access denied for command db-health.'] }]);
    fx.allow('player.8', 'command.db-health');
    const before = fx.lines.length;
    fx.playerTypes(8, 'db-health');
    const chat = () => fx.sent.filter(({ player }) => player === 8);
    await vi.waitFor(() => expect(JSON.stringify(chat())).toContain('signed'), PATIENCE);
    expect(new Set(chat().map(({ event }) => event))).toEqual(new Set(['chat:addMessage']));
    expect(fx.lines.slice(before)).toEqual([]);
  });

  it('tells how admins get the commands where they have not got them', async () => {
    const fx = new FxServer();
    closing.push(() => fx.close());
    cpSync(`${ROOT}/dist/db_connector`, fx.folderOf('db_connector'), { recursive: true });
    fx.startUp(['add_ace group.admin command.db-status allow', 'ensure db_connector']);
    const hint = await vi.waitFor(() => {
      const found = fx.plainLines.find((line) => line.includes('add_ace'));
      if (found === undefined) throw new Error('no hint');
      return found;
    }, PATIENCE);
    expect(hint).toContain('add_ace group.admin command.db-health allow');
    expect(hint).not.toContain('command.db-status');
  });
});

describe('the configuration', () => {
  it('comes from convars before the file, and names the convar that cannot be used', async () => {
    const api = await startApi();
    const { fx } = start({ url: 'http://127.0.0.1:9', secret: SECRET }, [
      `set db_connector_url "${api.url}"`,
      'set db_connector_key_id another',
    ]);
    expect(fx.plainLines.join('\n')).toContain(`calls go to ${api.url} with key another, namespaces game`);
    fx.exec('set db_connector_url "ftp://x"');
    fx.exec('db-reload');
    expect(fx.plainLines.at(-1)).toContain(
      'the running configuration stays: convar db_connector_url: expected http://HOST:PORT',
    );
  });

  it('keeps the secret from other resources, and out of every line', async () => {
    const api = await startApi();
    const { fx } = start({ url: api.url, secret: SECRET });
    fx.addScript('spy', '');
    fx.startUp(['ensure spy']);
    expect(fx.evaluate('spy', "GetConvar('db_connector_secret', 'nothing')")).toBe('nothing');
    for (const command of ['db-status', 'db-status json', 'db-health', 'db-reload']) fx.exec(command);
    expect(fx.lines.join('\n')).not.toContain(SECRET);
  });

  it('says what to write where there is no secret, and reads no file outside of the resource', () => {
    const { fx } = start({ url: 'http://127.0.0.1:9', secret: '' });
    expect(fx.plainLines.join('\n')).toContain('in server.cfg: set db_connector_secret');
    const outside = start({ url: 'http://127.0.0.1:9', secret: SECRET, caFile: '../../other/ca.pem' });
    expect(outside.fx.plainLines.join('\n')).toContain(
      'the server reads only files inside of the resource db_connector',
    );
  });
});

describe('a record', () => {
  it('that came as a Uint8Array is refused in words', async () => {
    const api = await startApi();
    const { fx } = start({ url: api.url, secret: SECRET });
    fx.addScript('shop', '');
    fx.exec('ensure shop');
    const ticket = fx.evaluate(
      'shop',
      'exports.db_connector.Call(new Uint8Array([0x92, 0xa1, 0x78, 0xa2, 0x7b, 0x7d]))',
    );
    expect(ticket).toMatchObject({ Id: '', Accepted: false });
    expect(JSON.stringify(ticket)).toMatch(/invalid_request: .*Uint8Array.*ArrayBuffer/);
  });
});

describe('a hitch', () => {
  it('while the clock is asked at the start leaves it right', async () => {
    const api = await startApi();
    api.clockOffsetMs = 3_600_000;
    const { fx } = start({ url: api.url, secret: SECRET });
    // The probe has just gone out, and nothing is read of its answer for so long.
    const until = performance.now() + 3000;
    while (performance.now() < until);
    await vi.waitFor(() => {
      fx.exec('db-status json');
      const { clockOffsetSeconds } = JSON.parse(fx.plainLines.at(-1)?.replace(/^\[[^\]]*\] /, '') ?? '{}');
      // Half a hitch would be a second and a half.
      expect(Math.abs(clockOffsetSeconds - 3600)).toBeLessThanOrEqual(1);
    }, PATIENCE);
  });

  it('neither fails calls nor opens the breaker, again and again', async () => {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET, timeoutMs: 1000 });
    await host.bundle(
      'shop',
      "command('go', () => { for (let i = 0; i < 4; i++) db.Find('game', 'cars', (result) => say('got ' + result.State + result.Code)); });",
    );
    for (let round = 0; round < 3; round += 1) {
      const from = host.lines().length;
      host.type('go');
      await host.fx.hitch(2500);
      await vi.waitFor(
        () =>
          expect(
            host
              .lines()
              .slice(from)
              .filter((line) => line.startsWith('got')),
          ).toEqual(Array(4).fill('got ok')),
        PATIENCE,
      );
    }
    expect(host.lines().join('\n')).not.toMatch(/internal|paused:/);
  });
});

describe('an announcement of a stop', () => {
  const SHOP = `command('call', () => say('id ' + ask('Call', { Operation: 'health', Json: '{}' }).Id));
     command('take', ([id]) => say('took ' + ask('TakeResult', { Id: id }).State));
     command('find', () => db.Find('game', 'cars', (result) => say('found ' + (result.Code || result.State))));`;

  async function startWithShop() {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET });
    await host.bundle('shop', SHOP);
    const from = () => host.lines().length;
    const ask = (command: string, pattern: RegExp) => {
      const before = from();
      host.type(command);
      return host.line(pattern, before);
    };
    const call = async () => (await ask('call', /^id /)).slice('id '.length);
    const ticks = async () => {
      await host.fx.hitch(0);
      await host.fx.hitch(0);
    };
    return { api, host, ask, call, ticks };
  }

  it('that another resource forges takes no result and no call from anybody', async () => {
    const { api, host, ask, call, ticks } = await startWithShop();
    const [done, held] = [await call(), Promise.withResolvers<void>()];
    await api.untilSeen(1);
    api.otherwise = (request, response, server) =>
      void held.promise.then(() => answers('{"rows":[],"hasMore":false}')(request, response, server));
    host.type('find');
    await api.untilSeen(2);
    const from = host.lines().length;
    for (const name of ['shop', 'db_connector', 'shop']) host.fx.emit('onResourceStop', [name], 'prankster');
    await ticks();
    held.resolve();
    expect(await host.line(/^found/, from)).toBe('found ok');
    expect(await ask(`take ${done}`, /^took/)).toBe('took ok');
    expect(await ask('find', /^found/)).toBe('found ok');
    const told = host.lines().filter((line) => line.includes('prankster'));
    expect(told).toEqual(['prankster announced that db_connector stops, which it does not: ignored']);
  });

  it('that is true counts, whether the server or a resource stops it', async () => {
    for (const by of [undefined, 'admin_menu']) {
      const { api, host, ask, call, ticks } = await startWithShop();
      const done = await call();
      await api.untilSeen(1);
      host.fx.stop('shop', by);
      await ticks();
      host.fx.start('shop');
      expect(await ask(`take ${done}`, /^took/)).toBe('took missing');
      host.fx.stop('db_connector', by);
      expect(await ask('find', /^found/)).toBe('found bundle_unavailable');
      host.fx.start('db_connector');
      expect(await ask('find', /^found/)).toBe('found ok');
    }
  });
});

describe('the end', () => {
  it('closes the sockets in the stop event itself, and nothing follows', async () => {
    const api = await startApi();
    api.otherwise = silent;
    const host = start({ url: api.url, secret: SECRET });
    await host.bundle(
      'shop',
      "for (let i = 0; i < 3; i++) db.Find('game', 'cars', (result) => say('got ' + result.Code));",
    );
    await api.untilSeen(3);
    host.type('stop db_connector');
    await vi.waitFor(() => expect(api.openSockets).toBe(0), PATIENCE);
    await host.line(/^got bundle_unavailable/);
    expect(api.seen.length).toBe(3);
    expect(host.lines().join('\n')).not.toContain('internal');
  });

  it('of a script sends its last calls, however many', async () => {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET, maxConcurrent: 64 });
    await host.bundle(
      'shop',
      `on('onResourceStop', (name) => {
         if (name === GetCurrentResourceName()) for (let i = 0; i < 20; i++) db.Find('game', 'last' + i);
       });
       for (let i = 0; i < 6; i++) db.Find('game', 'first' + i);
       say('called');`,
    );
    await host.line(/^called/);
    host.type('stop shop');
    await api.untilSeen(26);
    const tables = api.seen.map(({ envelope }) => JSON.parse(String(envelope.payload)).table);
    const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`);
    expect(tables.toSorted()).toEqual([...named('first', 6), ...named('last', 20)].toSorted());
  });

  it('that txAdmin announces lets others save for half of the time, and what is accepted go out', async () => {
    const api = await startApi();
    const held: (() => void)[] = [];
    api.otherwise = (request, response, server) =>
      void held.push(() => answers('{"affected":1}')(request, response, server));
    const host = start({ url: api.url, secret: SECRET });
    await host.bundle(
      'shop',
      `const save = () => db.Call('health', {}, (result) => say('saved ' + result.State + ' ' + db.ErrorMessage(result)));
       // A connector that listens to the same event has heard of it first.
       on('txAdmin:events:serverShuttingDown', save);
       command('save', save);`,
    );
    host.fx.emit('txAdmin:events:serverShuttingDown', [{ delay: 1, author: 'x', message: '' }], 'prankster');
    const announcedAt = performance.now();
    host.fx.emit(
      'txAdmin:events:serverShuttingDown',
      [{ delay: 2000, author: 'txAdmin', message: 'restart' }],
      'monitor',
    );
    await api.untilSeen(2);
    await vi.waitFor(() => {
      host.type('save');
      expect(host.lines().join('\n')).toContain('unavailable: the server is shutting down');
    }, PATIENCE);
    expect(performance.now() - announcedAt).toBeGreaterThanOrEqual(1000);
    await vi.waitFor(() => {
      for (const answer of held.splice(0)) answer();
      expect(host.lines().filter((line) => line.startsWith('saved ok')).length).toBe(api.seen.length);
    }, PATIENCE);
    expect(api.seen.length).toBeGreaterThanOrEqual(2);
  });
});

describe('a thread of its own', () => {
  const PERMISSION = 'add_unsafe_worker_permission db_connector';
  const find = `command('find', () => db.Find('game', 'cars', (result) => say('found ' + result.State)));`;
  const workerOf = async (host: ReturnType<typeof start>) => {
    const from = host.lines().length;
    host.type('db-status json');
    return (JSON.parse(await host.line(/^{/, from)) as { worker: string }).worker;
  };

  it('makes the calls where server.cfg allows it', async () => {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET }, [PERMISSION]);
    await host.bundle('shop', find);
    host.type('find');
    expect(await host.line(/^found/)).toBe('found ok');
    expect(await workerOf(host)).toBe('running');
    host.type('stop db_connector');
    await expect.poll(() => api.openSockets).toBe(0);
  });

  it('is done without where the permission was taken away, with one line that says so', async () => {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET });
    await host.bundle('shop', find);
    for (let round = 0; round < 2; round += 1) {
      const from = host.lines().length;
      host.type('db-reload');
      host.type('find');
      expect(await host.line(/^found/, from)).toBe('found ok');
    }
    expect(await workerOf(host)).toBe('denied');
    expect(host.lines().filter((line) => line.includes(PERMISSION))).toHaveLength(1);
  });
});

describe('a server that asks for the permission net', () => {
  it('is named on the console, once, with the way out', async () => {
    const api = await startApi();
    const host = start({ url: api.url, secret: SECRET }, ['forbid_network db_connector']);
    await host.bundle(
      'shop',
      `command('find', () => db.Find('game', 'cars', (result) => say('found ' + db.ErrorMessage(result))));`,
    );
    const page = readFileSync(`${ROOT}/docs/install-fivem.md`, 'utf8');
    const [, told = ''] = /^```console network\n.*?\] (.*)$/m.exec(page) ?? [];
    expect(await host.line(/needs the permission "net"/)).toBe(told);
    host.type('find');
    expect(await host.line(/^found/)).toMatch(/network: .*lets this script open no network connections/);
    host.type('db-health');
    await host.line(/allow it the permission "net"/);
    expect(host.lines().filter((line) => line.includes('needs the permission "net"'))).toHaveLength(1);
    expect(host.lines().join('\n')).not.toContain('--allow-net');
  });
});

describe('a thousand calls at once', () => {
  it('are each answered, once', async () => {
    const api = await startApi();
    // However busy this machine is, no answer is late.
    const target = { url: api.url, secret: SECRET, maxConcurrent: 64, timeoutMs: 60_000 };
    const host = start(target, ['add_unsafe_worker_permission db_connector']);
    await host.bundle(
      'shop',
      `const seen = new Uint8Array(1000); let left = 1000, ok = 0;
       for (let i = 0; i < 1000; i++) db.Find('game', 'cars', (result) => {
         seen[i] += 1; left -= 1; if (result.State === 'ok') ok += 1;
         if (left === 0) setTimeout(() => say('answered ' + ok + ' ' + Math.max(...seen)), 100);
       });`,
    );
    expect(await host.line(/^answered/)).toBe('answered 1000 1');
  });
});

describe('db-event', () => {
  const encode = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString('base64url');
  const DOCUMENTED = {
    scheduledRestart: { secondsRemaining: 600, translatedMessage: 'Neustart in 10 Minuten; "gleich" $x' },
    scheduledRestartSkipped: { secondsRemaining: 300, temporary: false, author: 'zoe' },
    announcement: { author: 'zoe', message: '10 minutes later' },
    serverShuttingDown: { delay: 30_000, author: 'panel', message: '' },
  };

  it('triggers the documented events with one table, from the console alone', async () => {
    const host = start({ url: (await startApi()).url, secret: SECRET });
    const names = Object.keys(DOCUMENTED);
    await host.bundle(
      'listener',
      `for (const name of ${JSON.stringify(names)}) on('txAdmin:events:' + name, (...args) => say(name + ' ' + JSON.stringify(args)));`,
    );
    const heard = () => host.lines().filter((line) => names.some((name) => line.startsWith(`${name} `)));
    host.fx.allow('player.7', 'command.db-event');
    host.fx.playerTypes(7, `db-event announcement ${encode(DOCUMENTED.announcement)}`);
    for (const line of [
      `playerConnecting ${encode({})}`,
      `constructor ${encode({})}`,
      `announcement ${encode({ author: 'x' })}`,
      `announcement ${encode({ author: 'x', message: 1 })}`,
      `announcement ${encode({ author: 'x', message: '', more: 1 })}`,
      `announcement ${encode([])}`,
      'announcement e30!',
      `announcement ${encode({ author: 'x', message: 'y'.repeat(4096) })}`,
      `announcement ${encode(DOCUMENTED.announcement)} more`,
      'announcement',
    ]) {
      host.type(`db-event ${line}`);
    }
    expect(heard()).toEqual([]);
    expect(host.fx.plainLines.filter((line) => line.includes('Usage: db-event'))).toHaveLength(10);
    for (const [name, fields] of Object.entries(DOCUMENTED)) host.type(`db-event ${name} ${encode(fields)}`);
    await vi.waitFor(
      () =>
        expect(heard()).toEqual(
          Object.entries(DOCUMENTED).map(([name, fields]) => `${name} ${JSON.stringify([fields])}`),
        ),
      PATIENCE,
    );
    expect(host.fx.plainLines.join('\n')).toContain('the server stops in 30 s');
  });

  it('takes each line that the panel types', async () => {
    const host = start({ url: (await startApi()).url, secret: SECRET });
    await host.bundle(
      'listener',
      `for (const name of ${JSON.stringify(Object.keys(DOCUMENTED))}) on('txAdmin:events:' + name, (...args) => say('heard ' + name + ' ' + JSON.stringify(args)));`,
    );
    const settings = { backend: 'fxserver', warnEvents: true, locale: 'ru' } as const;
    host.type(`${restartEventLine(settings, 15)}`);
    host.type(`${skippedEventLine(settings, 90_000, 'panel')}`);
    host.type(`${shutdownEventLine(settings, { actor: 'anna (phone)', isToStart: true, delayMs: 30_000 })}`);
    const heard = (name: string, fields: object) => `heard ${name} ${JSON.stringify([fields])}`;
    const expected = [
      heard('scheduledRestart', { secondsRemaining: 900, translatedMessage: 'Сервер перезапустится через 15 минут.' }),
      heard('scheduledRestartSkipped', { secondsRemaining: 90, temporary: false, author: 'panel' }),
      heard('serverShuttingDown', { delay: 30_000, author: 'anna', message: 'Сервер перезапускается.' }),
    ];
    await vi.waitFor(
      () => expect(host.lines().filter((line) => line.startsWith('heard '))).toEqual(expected),
      PATIENCE,
    );
  });
});
