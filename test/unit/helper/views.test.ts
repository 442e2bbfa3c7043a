import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, DatabaseError, type DbResult, Q } from '#connector/helper/helper.ts';
import { FakeServer, failed, ok } from './fake-server.ts';

const relation = { as: 'cars', table: 'cars', from: 'id', to: 'owner_id' };
const options = { idempotencyKey: 'a' };

/** Every method that takes a namespace, and its arguments behind it. */
const CALLS: readonly [Exclude<keyof ReturnType<Database['in']>['async'], 'FindEach'>, unknown[]][] = [
  ['Sync', [{ tables: [] }, { dryRun: true }]],
  ['Extend', ['part', { tables: [] }]],
  ['Describe', ['part']],
  ['Insert', ['cars', { id: 1 }, options]],
  ['InsertAll', ['cars', [{ id: 1 }], options]],
  ['Find', ['cars', { limit: 5 }]],
  ['First', ['cars', { filter: Q.Eq('id', 1) }]],
  ['Value', ['cars', 'id', { filter: Q.Eq('id', 1) }]],
  ['FindAll', ['cars', { max: 5 }]],
  ['FindWith', ['cars', {}, relation]],
  ['Aggregate', ['cars', { values: Q.CountRows('n') }]],
  ['Count', ['cars', Q.Eq('id', 1)]],
  ['Update', ['cars', { filter: Q.Eq('id', 1), set: { id: 2 } }, options]],
  ['Upsert', ['cars', { id: 1 }, ['id'], options]],
  ['Delete', ['cars', Q.Eq('id', 1), options]],
  ['Batch', [[Q.Op.Delete('cars', Q.Eq('id', 1))], options]],
  ['Flush', []],
];

function setUp() {
  const server = new FakeServer();
  server.reply = () => ok({ rows: [{ id: 7 }], hasMore: false });
  return { server, db: new Database(server) };
}

type Method = (...args: unknown[]) => Promise<DbResult>;
const run = (methods: object, name: string, args: unknown[]) =>
  (Reflect.get(methods, name) as Method).apply(methods, args);

async function settled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await vi.advanceTimersByTimeAsync(200);
  return promise;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(CALLS)('%s of db.in(…)', (name, args) => {
  it('sends what the method of the database sends, by promise, exception and callback', async () => {
    const { server, db } = setUp();
    const shop = db.in('shop');
    const whole = await settled(run(db.async, name, ['shop', ...args]));
    const results = [await settled(run(shop.async, name, args)), await settled(run(shop.orThrow, name, args))];
    results.push(await settled(new Promise((resolve) => run(shop, name, [...args, resolve]))));
    const payloads = server.calls.map(({ payload }) => payload);
    const first = payloads.slice(0, payloads.length / 4);
    expect(payloads).toEqual([...first, ...first, ...first, ...first]);
    expect(server.last.payload).toMatchObject({ namespace: 'shop' });
    for (const result of results) expect({ ...result, Id: '' }).toEqual({ ...whole, Id: '' });
    expect(shop.Rows(results[0] as DbResult)).toEqual(db.Rows(whole));
  });

  it('throws with code, status and message where the call failed', async () => {
    const { server, db } = setUp();
    server.reply = () => failed('unknown_table', 404);
    for (const call of [() => run(db.in('shop').orThrow, name, args), () => run(db.orThrow, name, ['shop', ...args])]) {
      const error = await settled(call()).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(DatabaseError);
      expect(error).toMatchObject({ code: 'unknown_table', status: 404, message: 'unknown_table: so it is' });
      expect(db.ErrorMessage((error as DatabaseError).result)).toBe('unknown_table: so it is');
    }
  });
});

describe('db.orThrow', () => {
  it('throws for mistakes of the script and for a connector that is away', async () => {
    const { server, db } = setUp();
    await expect(settled(db.orThrow.First('game', 'cars', { where: 1 } as object))).rejects.toMatchObject({
      code: 'invalid_request',
      status: 0,
    });
    server.isRunning = false;
    await expect(settled(db.orThrow.Health())).rejects.toMatchObject({ code: 'bundle_unavailable' });
  });

  it('reads a table in a loop, which throws the same error', async () => {
    const { server, db } = setUp();
    const ids: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const { id } of db.in('shop').orThrow.FindEach('cars')) ids.push(id);
    };
    await settled(read());
    expect(ids).toEqual([7]);
    server.reply = () => failed('forbidden', 403);
    await expect(settled(read())).rejects.toBeInstanceOf(DatabaseError);
    await expect(settled(read())).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });
});
