import { connect, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { fromBson, toBson } from '#engine/mongo/documents.ts';
import { openEngine } from '#engine/open.ts';
import type { TableTarget, Write } from '#engine/rows.ts';
import type { Column } from '#protocol/columns.ts';
import { startFaultProxy } from '#support/fault-proxy.ts';
import { declare, ID, row, rowsOf, where, within } from '../engine-calls.ts';
import { until } from '../sqlite/world.ts';
import { slot, WriteWorld } from './write-world.ts';

const TABLES = [
  {
    name: 'accounts',
    primaryKey: ['id'],
    columns: [
      { ...ID, autoIncrement: false },
      { name: 'money', type: 'int32', nullable: true },
      { name: 'house', type: 'int32', nullable: true },
      { name: 'seat', type: 'int32', nullable: true },
      { name: 'note', type: 'text', nullable: true },
      ...Array.from({ length: 5 }, (_, i) => ({ name: `long${i}`, type: 'text', nullable: true })),
    ],
    indexes: [{ name: 'by_seat', columns: ['house', 'seat'], unique: true }],
  },
];

let world: WriteWorld;
let engine: Engine;
let accounts: TableTarget;

beforeAll(async () => {
  world = await WriteWorld.open();
  engine = await world.engine();
  const declared = await declare(engine, 'game', TABLES);
  accounts = declared.accounts as TableTarget;
});

afterAll(() => world.close());

async function startWith(rows: readonly Parameters<typeof row>[0][]): Promise<void> {
  await world.collection('game__accounts').deleteMany({});
  await engine.write(accounts, { op: 'insert', rows: rows.map(row) }, null, within(10_000));
}

const update = (
  set: Parameters<typeof row>[0],
  inc: Parameters<typeof row>[0],
  filter: object | null = null,
): Write => ({
  op: 'update',
  filter: filter === null ? null : where(accounts, filter),
  set: row(set),
  inc: row(inc),
});

const columnsOf = async (...names: string[]): Promise<unknown[]> =>
  ((await rowsOf(engine, accounts)) as Record<string, unknown>[]).map((each) => names.map((name) => each[name]));

describe('bytes in a document', () => {
  const column: Column = { name: 'b', type: 'bytes', nullable: false, unique: false, autoIncrement: false };
  const bytes = fc.uint8Array({ maxLength: 9 });

  it('come back, and sort by their bytes', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(fromBson(column, toBson(column, a))).toEqual(a);
        const order = Buffer.compare(a, b);
        expect(Math.sign(Buffer.compare(textOf(a), textOf(b)))).toBe(order);
      }),
    );
  });

  const textOf = (value: Uint8Array): Buffer => Buffer.from(String(toBson(column, value)));
});

describe('an update of many rows', () => {
  it('that would repeat a unique pair is refused before it writes, and one that would not is made', async () => {
    await startWith([
      { id: 1n, house: 1, seat: 1 },
      { id: 2n, house: 1, seat: 2 },
      { id: 3n, house: 2, seat: 2 },
      { id: 4n, house: null, seat: 2 },
    ]);
    const lower = { field: 'id', op: 'lte', value: 2 };
    const before = await rowsOf(engine, accounts);
    for (const [write, columns] of [
      [update({ seat: 3 }, {}, lower), 'house, seat'],
      [update({ house: 2 }, {}, lower), 'house, seat'],
    ] as const) {
      await expect(engine.write(accounts, write, null, within(5000))).rejects.toMatchObject({
        code: 'constraint_violation',
        message: expect.stringContaining(columns),
      });
      expect(await rowsOf(engine, accounts)).toEqual(before);
    }
    expect(await engine.write(accounts, update({ house: 3 }, {}, lower), null, within(5000))).toBe('{"affected":2}');
    expect(await engine.write(accounts, update({ house: null }, {}), null, within(5000))).toBe('{"affected":4}');
  });

  it('with a sum out of range is refused before it writes', async () => {
    await startWith([
      { id: 1n, money: 1 },
      { id: 2n, money: 2_147_483_647 },
      { id: 3n, money: null },
    ]);
    const refused = engine.write(accounts, update({}, { money: 1n }), slot(), within(5000));
    await expect(refused).rejects.toMatchObject({ code: 'invalid_value' });
    expect(await columnsOf('money')).toEqual([[1], [2_147_483_647], [null]]);
    const made = engine.write(accounts, update({}, { money: -2_147_483_648n }), null, within(5000));
    await expect(made).resolves.toBe('{"affected":3}');
    expect(await columnsOf('money')).toEqual([[-2_147_483_647], [-1], [-2_147_483_648]]);
  });
});

describe('a document of more than 16 MiB', () => {
  const long = '\u{10000}'.repeat(1_000_000);

  it('is refused, and nothing of its insert or update is left', async () => {
    await startWith([{ id: 1n, long0: long, long1: long, long2: long }]);
    const tooLong = { long0: long, long1: long, long2: long, long3: long, long4: long };
    const insert: Write = { op: 'insert', rows: [row({ id: 2n }), row({ id: 3n, ...tooLong })] };
    await expect(engine.write(accounts, insert, null, within(20_000))).rejects.toMatchObject({
      code: 'value_too_long',
    });
    const grown = update({ long3: long, long4: long, money: 1 }, {}, { field: 'id', op: 'eq', value: 1 });
    await expect(engine.write(accounts, grown, null, within(20_000))).rejects.toMatchObject({ code: 'value_too_long' });
    expect(await columnsOf('id', 'money')).toEqual([[1, null]]);
    await world.collection('game__accounts').deleteMany({});
  });
});

describe('an idempotency key', () => {
  it('sent to two sidecars at once is written once, and both answer alike', async () => {
    await startWith([{ id: 1n, money: 0 }]);
    const other = await world.engine();
    for (let round = 0; round < 5; round++) {
      const key = slot();
      const answers = await Promise.all(
        [engine, other].map((each) => each.write(accounts, update({}, { money: 1n }), key, within(10_000))),
      );
      expect(answers).toEqual(['{"affected":1}', '{"affected":1}']);
    }
    expect(await columnsOf('money')).toEqual([[5]]);
  });

  it('leaves no marks: they go soon, and those of a sidecar that died with the memory of their keys', async () => {
    await startWith([{ id: 1n, money: 0 }]);
    const key = slot();
    await engine.write(accounts, update({}, { money: 1n }), key, within(5000));
    await until(async () => (await marked()) === 0 && (await records({ marked: { $exists: true } })) === 0);
    expect(await engine.recall(key.kid, key.namespace, key.key, key.now, within(5000))).toEqual({
      fingerprint: key.fingerprint,
      result: '{"affected":1}',
    });
    const mortal = await world.engine();
    await mortal.write(accounts, update({}, { money: 1n }), slot(), within(5000));
    expect(await marked()).toBe(1);
    const late = await world.engine({ aheadMs: 700_000, purgeIntervalMs: 50 });
    await until(async () => (await marked()) === 0 && (await records({})) === 0);
    expect(await late.recall(key.kid, key.namespace, key.key, key.now, within(5000))).toBeNull();
    expect(await columnsOf('money')).toEqual([[2]]);
  });

  const marked = () => world.collection('game__accounts').countDocuments({ _ops: { $type: 'objectId' } });
  const records = (filter: object) => world.collection('_idempotency').countDocuments(filter);
});

describe('a server that', () => {
  it('hangs holds neither calls beyond their time nor the end of the sidecar', async () => {
    await startWith([{ id: 1n, money: 0 }]);
    const proxy = await startFaultProxy(world.url);
    const log: string[] = [];
    const hung = await world.engine({ url: proxy.url, statementTimeoutMs: 1000, log });
    await hung.count(accounts, null, within(5000));
    proxy.hang();
    const startMs = performance.now();
    const calls = [
      hung.ping(within(500)),
      hung.count(accounts, null, within(500)),
      hung.write(accounts, update({ money: 5 }, {}), null, within(500)),
    ];
    // A connection that is there waits; a new one is not to be had.
    const code = expect.stringMatching(/^database_(timeout|error)$/);
    // All at once: one that fails first must not wait for the others to be looked at.
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code })));
    expect(performance.now() - startMs).toBeLessThan(2000);
    const closeMs = performance.now();
    await hung.close();
    expect(performance.now() - closeMs).toBeLessThan(5000);
    await proxy.stop();
    expect(log.join()).not.toContain('127.0.0.1');
  });

  it('loses connections is asked again where nothing was sent, and a write that was sent is told as unknown', {
    timeout: 40_000,
  }, async () => {
    await startWith([{ id: 1n, money: 0 }]);
    const proxy = await startFaultProxy(world.url);
    const cut = await world.engine({ url: proxy.url });
    await cut.count(accounts, null, within(5000));
    proxy.cut();
    expect(await cut.count(accounts, null, within(5000))).toBe(1);
    const add = update({}, { money: 1n }, { field: 'id', op: 'eq', value: 1 });
    let made = 0;
    const lost: unknown[] = [];
    // The next answer may be to something that the sidecar asks for itself.
    await until(async () => {
      await cut.count(accounts, null, within(3000));
      proxy.cutAtNextAnswer();
      try {
        await cut.write(accounts, add, null, within(3000));
        made += 1;
      } catch (error) {
        lost.push(error);
      }
      return lost.length === 3;
    }, 30_000);
    for (const error of lost) {
      expect(error).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('unknown') });
    }
    const [[money]] = (await columnsOf('money')) as [[number]];
    expect(money).toBeGreaterThanOrEqual(made);
    expect(money).toBeLessThanOrEqual(made + lost.length);
    await until(() => cut.ping(within(2000)).then(() => true));
    await cut.close();
    await proxy.stop();
  });

  it('is too old is refused at the start, with one line', async () => {
    const old = await startOldServer(world.url);
    await expect(world.engine({ url: old.url })).rejects.toThrow('database: the server is too old: MongoDB 6');
    await old.stop();
  });

  it('holds a database of a newer program is refused at the start, and not touched', async () => {
    const newer = await WriteWorld.open();
    await newer.collection('_meta').insertOne({ _id: 'format' as never, value: 99 });
    await expect(newer.engine()).rejects.toThrow(/database: the database has format version 99/);
    expect((await newer.client.db().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)).toEqual(
      ['_meta'],
    );
    await newer.close();
  });

  it('cannot be understood by its URL is told without it', async () => {
    const settings = {
      provider: 'mongodb',
      url: 'mongodb://me:secret@',
      poolSize: 4,
      statementTimeoutMs: 500,
    } as const;
    const opened = openEngine(settings, { log: () => {}, now: Date.now });
    await expect(opened).rejects.toThrow(/^(?!.*secret).*database\.url/);
  });
});

/** The server of the tests, but it says that it is MongoDB 5. */
async function startOldServer(serverUrl: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => client.write(withWireVersion(chunk, 13)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const own = new URL(serverUrl);
  own.port = String(address.port);
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: own.href, stop };
}

function withWireVersion(chunk: Buffer, version: number): Buffer {
  const name = 'maxWireVersion\0';
  const changed = Buffer.from(chunk);
  const at = changed.indexOf(name);
  if (at >= 0) changed.writeInt32LE(version, at + name.length);
  return changed;
}
