import { afterEach, describe, expect, it, vi } from 'vitest';
import { answers, LyingServer, silent } from '../support/lying-server.ts';
import { fxScriptHost, type ScriptHost, standaloneScriptHost, type Target } from '../support/script-hosts.ts';
import { startSidecar } from '../support/sidecar.ts';

const SECRET = 'a-secret-that-only-the-tests-know-0123456789';
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

/** How many lines there are, so that those that come can be told from them. */
function settled(host: ScriptHost): number {
  return host.lines().length;
}

const HOSTS: readonly [string, (target: Target) => Promise<ScriptHost>][] = [
  ['the standalone server', standaloneScriptHost],
  ['FXServer', async (target) => fxScriptHost(target)],
];

describe.each(HOSTS)('db_connector on %s', (_name, make) => {
  async function start(target: Target): Promise<ScriptHost> {
    const host = await make(target);
    closing.push(() => host.close());
    return host;
  }

  it('gives a script the database of a real sidecar, to the last digit', async () => {
    const sidecar = await startSidecar();
    closing.push(() => sidecar.stop());
    const host = await start({ url: sidecar.address, secret: sidecar.secret });
    await host.bundle(
      'shop',
      `const schema = Q.Schema(Q.Table('cars', [Q.Int64('id'), Q.Text('plate', { length: 12 }), Q.Column('price', 'decimal', { precision: 30, scale: 4 })], { primaryKey: ['id'] }));
       const tell = (what, result) => say('told ' + what + ' ' + result.State + ' ' + result.Json);
       (async () => {
         tell('ready', await db.async.Ready());
         tell('sync', await db.async.Sync('game', schema));
         tell('insert', await db.async.Insert('game', 'cars', [{ id: 9007199254740993n, plate: 'Zoë 🚗', price: Q.Number('12345678901234567890.1234') }]));
         const found = await db.async.Find('game', 'cars', { filter: Q.Eq('plate', 'Zoë 🚗') });
         tell('find', found);
         const [row] = db.Rows(found);
         say('row ' + typeof row.id + ' ' + row.id + ' ' + row.plate + ' ' + row.price);
         tell('refused', await db.async.Find('other', 'cars'));
       })();`,
    );
    await host.line(/^told refused/);
    const said = host.lines().filter((line) => /^(told (insert|find|refused)|row) /.test(line));
    expect(said).toEqual([
      'told insert ok {"inserted":1,"ids":[9007199254740993]}',
      'told find ok {"rows":[{"id":9007199254740993,"plate":"Zoë 🚗","price":12345678901234567890.1234}],"hasMore":false}',
      'row bigint 9007199254740993 Zoë 🚗 12345678901234567890.1234',
      'told refused error {"error":{"code":"namespace_not_allowed","message":"other is not in the list of namespaces of database.json"}}',
    ]);
  });

  it('answers a record in the form it came in', async () => {
    const host = await start({ url: 'http://127.0.0.1:9', secret: SECRET });
    await host.bundle(
      'shop',
      `const kind = (value) => Object.prototype.toString.call(value);
       // The MessagePack of ['nothing', '{}'] and of { Id: 'x' }.
       const packed = ask('Call', bytes([0x92, 0xa7, ...[...'nothing'].map((c) => c.charCodeAt(0)), 0xa2, 0x7b, 0x7d]));
       say('kinds ' + kind(packed) + ' ' + kind(ask('TakeResult', bytes([0x81, 0xa2, 0x49, 0x64, 0xa1, 0x78]))));
       const list = [...new Uint8Array(packed)];
       say('packed ' + list[0] + ' ' + list.length);
       say('listed ' + JSON.stringify(ask('TakeResult', ['x'])));
       say('named ' + JSON.stringify(ask('TakeResult', { Id: 'x' })));`,
    );
    await host.line(/^named/);
    expect(host.lines().filter((line) => /^(kinds|listed|named) /.test(line))).toEqual([
      `kinds ${host.byteKind} ${host.byteKind}`,
      'listed ["x","missing",0,"",""]',
      'named {"Id":"x","State":"missing","Status":0,"Code":"","Json":""}',
    ]);
    // An array of three: Id, Accepted, Error.
    expect(await host.line(/^packed/)).toMatch(/^packed 147 /);
  });

  it('refuses every kind of argument that is no record, and goes on', async () => {
    const api = await startApi();
    const host = await start({ url: api.url, secret: SECRET });
    await host.bundle(
      'hostile',
      `const deep = []; let inner = deep; for (let i = 0; i < 90; i++) { inner.push([]); inner = inner[0]; }
       const given = [undefined, null, true, 0, -1, 1.5, NaN, 2 ** 60, '', 'x'.repeat(100000), [], [1], ['find'], ['find', {}], [[], []], {}, { Operation: 'find' },
         { operation: 'find', json: '{}' }, { Operation: 1, Json: 2 }, { Operation: null, Json: '{}' }, { Operation: 'find', Json: null }, { Operation: {}, Json: [] },
         { Id: {} }, [null], [{}], new Date(0), new Map([['Operation', 'find']]), deep, bytes([]), bytes([0xc1]), bytes([0x92]), bytes([0xdd, 0xff, 0xff, 0xff, 0xff]), bytes([0xdf, 0xff, 0xff, 0xff, 0xff]),
         bytes([0xc6, 0xff, 0xff, 0xff, 0xff]), bytes(new Array(1000).fill(0x91)), { Operation: 'find', Json: '{"namespace":"game"', extra: 1 },
         { Operation: 'constructor', Json: '{}' }, { Operation: '__proto__', Json: '{}' }, { Operation: 'find', Json: '[]' }, { Operation: 'find', Json: '{"namespace":"../x","table":"t"}' },
         JSON.parse('{"__proto__":{"Operation":"health","Json":"{}","Id":"x"}}'), JSON.parse('[{"__proto__":1},"{}"]')];
       let accepted = 0, odd = 0;
       for (const each of given) {
         for (const name of ['Call', 'TakeResult']) {
           const reply = ask(name, each);
           if (typeof reply !== 'object' || reply === null) odd += 1;
           if (reply?.Accepted === true || reply?.State === 'ok') accepted += 1;
         }
       }
       let thrown = 0;
       for (const each of [1n, { Operation: 10n }]) { try { ask('Call', each); } catch { thrown += 1; } }
       say('hostile ' + accepted + ' ' + odd + ' ' + thrown);
       db.Find('game', 'cars', (result) => say('after ' + result.State));`,
    );
    expect(await host.line(/^hostile/)).toBe('hostile 0 0 2');
    expect(await host.line(/^after/)).toBe('after ok');
  });

  it('hands a result to its caller alone, once, and to nobody after the caller has stopped', async () => {
    const api = await startApi();
    const host = await start({ url: api.url, secret: SECRET });
    const taker = `command('take-%', ([id]) => say('% takes ' + ask('TakeResult', { Id: id }).State));
       command('call-%', () => say('% has ' + ask('Call', { Operation: 'health', Json: '{}' }).Id));`;
    await host.bundle('shop', taker.replaceAll('%', 'shop'));
    await host.bundle('thief', taker.replaceAll('%', 'thief'));
    const call = async (from: number) => {
      host.type('call-shop');
      return (await host.line(/^shop has /, from)).slice('shop has '.length);
    };
    const id = await call(0);
    expect(id).toMatch(/^[\w-]{22}$/);
    await api.untilSeen(1);
    host.type(`take-thief ${id}`);
    expect(await host.line(/^thief takes/)).toBe('thief takes missing');
    const collected = async () => {
      for (;;) {
        const from = settled(host);
        host.type(`take-shop ${id}`);
        const line = await host.line(/^shop takes/, from);
        if (line !== 'shop takes pending') return line;
      }
    };
    expect(await collected()).toBe('shop takes ok');
    expect(await collected()).toBe('shop takes missing');
    const before = settled(host);
    const second = await call(before);
    await api.untilSeen(2);
    host.type('restart shop');
    await host.line(/tarted (resource )?shop/, before);
    const from = settled(host);
    host.type(`take-shop ${second}`);
    expect(await host.line(/^shop takes/, from)).toBe('shop takes missing');
  });

  it('ends what waits when it stops, and serves again when it is back', async () => {
    const api = await startApi();
    api.otherwise = silent;
    const host = await start({ url: api.url, secret: SECRET });
    // Without the connector as a dependency a bundle outlives it; commands are what drives it.
    await host.bundle(
      'shop',
      `command('call', () => db.Find('game', 'cars', (result) => say('answer ' + result.Code + ' ' + result.State)));`,
    );
    host.type('call');
    await api.untilSeen(1);
    const open = api.openSockets;
    expect(open).toBeGreaterThan(0);
    host.type('stop db_connector');
    await host.line(/db_connector$/, 1);
    if (host.byteKind === '[object ArrayBuffer]') {
      expect(await host.line(/^answer/)).toBe('answer bundle_unavailable error');
    }
    api.otherwise = answers('{"rows":[],"hasMore":false}');
    const from = settled(host);
    host.type('start db_connector');
    host.type('start shop');
    await host.line(/tarted (resource )?db_connector/, from);
    host.type('call');
    expect(await host.line(/^answer {2}ok/, from)).toBe('answer  ok');
  });

  it('keeps calls and the circuit whole while the game stands still', async () => {
    const api = await startApi();
    const host = await start({ url: api.url, secret: SECRET, timeoutMs: 1000 });
    await host.bundle(
      'shop',
      `const hold = (ms) => { const until = performance.now() + ms; while (performance.now() < until); };
       command('hold', () => {
         let left = 8;
         for (let i = 0; i < 8; i++) db.Find('game', 'cars', (result) => { left -= 1; say('held ' + result.State + ' ' + left); });
         // Begun, and then nothing is read for more than twice the timeout.
         setTimeout(() => hold(2500), 0);
       });`,
    );
    for (const round of [1, 2]) {
      const from = settled(host);
      host.type('hold');
      await host.line(/^held \w+ 0$/, from);
      const held = host
        .lines()
        .slice(from)
        .filter((line) => line.startsWith('held'));
      expect([round, held.filter((line) => line.startsWith('held ok')).length]).toEqual([round, 8]);
    }
    const from = settled(host);
    host.type('db-status json');
    expect(JSON.parse(await host.line(/^\{/, from))).toMatchObject({ circuit: 'closed', queued: 0, inFlight: 0 });
  });

  it('keeps its configuration when db-reload finds a broken one', async () => {
    const api = await startApi();
    const host = await start({ url: api.url, secret: SECRET });
    const reload = async (fields: Record<string, unknown> | string) => {
      const from = settled(host);
      host.configure(fields);
      host.type('db-reload');
      return host.line(/calls go to|configuration stays/, from);
    };
    expect(await reload({ timeoutMs: 'soon' })).toBe(
      'the running configuration stays: timeoutMs: expected an integer from 100 to 120000, got another text',
    );
    expect(await reload('{')).toContain(
      'the running configuration stays: database.json: line 1, column 2: not valid JSON',
    );
    expect(await reload({ namespaces: ['game', 'stats'] })).toBe(
      `calls go to ${api.url} with key local, namespaces game, stats`,
    );
  });

  it('lets a bundle that floods and never collects wait alone', async () => {
    const api = await startApi();
    const host = await start({ url: api.url, secret: SECRET, maxConcurrent: 64, timeoutMs: 60_000 });
    await host.bundle(
      'flood',
      `command('flood', () => {
         const codes = {};
         for (let i = 0; i < 10000; i++) {
           const ticket = ask('Call', { Operation: 'health', Json: '{}' });
           const code = ticket.Accepted ? 'accepted' : ticket.Error.split(':')[0];
           codes[code] = (codes[code] ?? 0) + 1;
         }
         say('flooded ' + Object.keys(codes).sort());
       });`,
    );
    await host.bundle(
      'shop',
      `command('buy', () => db.Find('game', 'cars', (result) => say('bought ' + result.State)));`,
    );
    host.type('flood');
    expect(await host.line(/^flooded/)).toBe('flooded accepted,busy');
    host.type('buy');
    expect(await host.line(/^bought/)).toBe('bought ok');
  });
});
