import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { TableTarget, Write } from '#engine/rows.ts';
import { type FaultProxy, startFaultProxy } from '#support/fault-proxy.ts';
import { connect, type PostgresWorld, postgresWorld, within } from './schema-world.ts';
import { byId, declare, idsOf, insert, type LogLine, note, openLogged, slotOf } from './world.ts';

const POOL_SIZE = 3;
/** How long after its deadline a call may end: a cancel, and a machine that is busy. */
const SLACK_MS = 1000;

let world: PostgresWorld;
let proxy: FaultProxy;
let engine: Engine;
let log: LogLine[];
let target: TableTarget;

beforeAll(async () => {
  world = await postgresWorld();
  proxy = await startFaultProxy(world.url);
  ({ engine, log } = await openLogged(proxy.url, POOL_SIZE));
  target = await declare(engine, 'game');
});

afterAll(async () => {
  await engine.close();
  await proxy.stop();
  await world.drop();
});

const increment: Write = { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) };

const timed = async (call: Promise<unknown>): Promise<{ readonly outcome: unknown; readonly ms: number }> => {
  const startMs = performance.now();
  const outcome = await call.catch((error: unknown) => error);
  return { outcome, ms: performance.now() - startMs };
};

const OURS = "application_name LIKE '%sidecar%' AND datname = current_database()";

/** Statements of the engine that the server has under way. */
const running = () => world.column(`SELECT query FROM pg_stat_activity WHERE ${OURS} AND state <> 'idle'`);

/** An engine with one connection, which is open: whatever the proxy does to the next answer, it does to its call. */
const openSingle = async (): Promise<Engine> => {
  const { engine: single } = await openLogged(proxy.url, 1);
  onTestFinished(() => single.close());
  await single.count(target, null, within(5000));
  return single;
};

/** Every place of the pool is free again. */
const expectWholePool = async (): Promise<void> => {
  const many = Array.from({ length: POOL_SIZE * 3 }, () => engine.count(target, null, within(5000)));
  const counts = await Promise.all(many);
  expect(new Set(counts).size).toBe(1);
};

describe('a statement that takes too long', () => {
  it('is ended at the server, changes nothing, and leaves its connection to others', async () => {
    await insert(engine, target, [note({})]);
    await expectWholePool();
    const holder = await connect(world.url);
    onTestFinished(() => holder.end());
    await holder.query('BEGIN; LOCK TABLE game__notes IN ACCESS EXCLUSIVE MODE');
    for (let round = 0; round < 3; round++) {
      const calls = [
        engine.write(target, increment, null, within(200)),
        engine.write(target, increment, slotOf('slow'), within(200)),
        insert(engine, target, [note({}), note({ id: 900 })], 200),
        engine.count(target, null, within(200)),
      ];
      for (const { outcome, ms } of await Promise.all(calls.map(timed))) {
        expect(outcome).toMatchObject({ code: 'database_timeout', message: expect.not.stringContaining('unknown') });
        expect(ms).toBeLessThan(200 + SLACK_MS);
      }
    }
    expect(await running()).toEqual([]);
    // Cancels went through connections of their own.
    await expect.poll(() => proxy.connections()).toBe(POOL_SIZE);
    await holder.query('ROLLBACK');
    await expectWholePool();
    expect(await world.column('SELECT n FROM game__notes')).toEqual(['0']);
  });
});

describe('a server that hangs', () => {
  it('holds up no call past its deadline, and writes do not say that they did nothing', async () => {
    await expectWholePool();
    proxy.hang();
    const { outcome, ms } = await timed(engine.write(target, increment, null, within(200)));
    expect(outcome).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('unknown') });
    expect(ms).toBeLessThan(200 + SLACK_MS);
    const calls = Array.from({ length: 10 }, () => engine.count(target, null, within(200)));
    for (const late of await Promise.all([...calls, engine.ping(within(200))].map(timed))) {
      expect(late.outcome).toMatchObject({ code: 'database_timeout' });
      expect(late.ms).toBeLessThan(200 + SLACK_MS);
    }
    proxy.resume();
    await expect.poll(() => timed(engine.ping(within(1000))), { timeout: 10_000 }).toMatchObject({ outcome: null });
    await expectWholePool();
  });

  it('does not keep an engine from closing', async () => {
    const { engine: closing } = await openLogged(proxy.url, POOL_SIZE);
    await closing.ping(within(1000));
    proxy.hang();
    const waiting = [timed(closing.ping(within(300))), timed(closing.count(target, null, within(300)))];
    const { ms } = await timed(closing.close());
    expect(ms).toBeLessThan(300 + 1000 + SLACK_MS);
    for (const { outcome } of await Promise.all(waiting)) expect(outcome).toMatchObject({ code: 'database_timeout' });
    proxy.resume();
    await expect.poll(() => timed(engine.ping(within(1000))), { timeout: 10_000 }).toMatchObject({ outcome: null });
  });
});

describe('a connection that is lost', () => {
  it('while nothing runs on it, is not noticed by anybody', async () => {
    await expectWholePool();
    for (let round = 0; round < 5; round++) {
      // Also those that the pool was still making.
      const terminate = () => world.column(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`);
      await expect.poll(async () => (await terminate()).length + proxy.connections()).toBe(0);
      await insert(engine, target, [note({})]);
      await expectWholePool();
    }
  });

  it('while it is being made, is made again, whatever waits for it', async () => {
    const single = await openSingle();
    for (let answers = 0; answers < 4; answers++) {
      proxy.cut();
      await expect.poll(() => proxy.connections()).toBe(0);
      proxy.cutAfterAnswers(answers);
      expect(await insert(single, target, [note({})])).toContain('"inserted":1');
    }
  });

  it('behind which another database stands now, is no hindrance', async () => {
    const single = await openSingle();
    await world.client.query('ALTER SCHEMA public RENAME TO kept; CREATE SCHEMA public');
    onTestFinished(async () => {
      await world.client.query('DROP SCHEMA public CASCADE; ALTER SCHEMA kept RENAME TO public');
    });
    proxy.cut();
    await expect.poll(() => proxy.connections()).toBe(0);
    expect(await single.schemas.readSchema('game', within(5000))).toBeNull();
    expect((await declare(single, 'game')).revision).toBe(1);
  });

  it('under a read, is replaced and the read repeated', async () => {
    const single = await openSingle();
    for (let round = 0; round < 5; round++) {
      proxy.cutAtNextAnswer();
      expect(await single.count(target, null, within(5000))).toBeGreaterThan(0);
    }
  });

  it('under a write, is told as an outcome that is unknown: it is not written twice', async () => {
    const id = 5000;
    const single = await openSingle();
    await insert(single, target, [note({ id })]);
    for (let round = 1; round <= 5; round++) {
      await single.ping(within(5000));
      proxy.cutAtNextAnswer();
      const write = single.write(target, { ...increment, filter: byId(target, id) }, null, within(5000));
      await expect(write).rejects.toMatchObject({
        code: 'database_timeout',
        message: expect.stringContaining('the outcome is unknown'),
      });
      await expect.poll(() => world.column(`SELECT n FROM game__notes WHERE id = ${id}`)).toEqual([`${round}`]);
    }
  });

  it('under a write with an idempotency key, is resolved by the same call again', async () => {
    const id = 5001;
    const single = await openSingle();
    await insert(single, target, [note({ id })]);
    for (let round = 1; round <= 5; round++) {
      await single.ping(within(5000));
      const slot = slotOf(`lost ${round}`);
      proxy.cutAtNextAnswer();
      const keyed = () => single.write(target, { ...increment, filter: byId(target, id) }, slot, within(5000));
      await expect(keyed()).rejects.toMatchObject({ code: 'database_timeout' });
      expect(await keyed()).toBe('{"affected":1}');
      expect(await world.column(`SELECT n FROM game__notes WHERE id = ${id}`)).toEqual([`${round}`]);
    }
  });

  it('in a transaction before its commit, repeats it; at the commit the outcome is unknown', async () => {
    // A row with an id past the generator and one without: BEGIN, LOCK, two questions, INSERT, COMMIT.
    let unknown = 0;
    for (let answers = 0; answers < 6; answers++) {
      const id = 10_000 + answers * 100;
      const single = await openSingle();
      proxy.cutAfterAnswers(answers);
      const { outcome } = await timed(insert(single, target, [note({ id }), note({})]));
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('unknown') });
        unknown += 1;
      } else expect(outcome).toMatch(`{"inserted":2,"ids":[${id},`);
      const ids = (await idsOf(single, target)).filter((each) => each >= id);
      // An attempt that was undone may have used an id up.
      expect(ids).toEqual([id, expect.toBeOneOf([id + 1, id + 2])]);
    }
    expect(unknown).toBe(1);
  });
});

describe('what the owner reads', () => {
  it('a wrong password: one line without it, and calls fail until it is right', async () => {
    const url = new URL(proxy.url);
    url.password = 'certainly-wrong';
    const { engine: refused, log: lines } = await openLogged(url.href);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => timed(refused.count(target, null, within(5000)))),
    );
    expect(new Set(outcomes.map(({ outcome }) => (outcome as { readonly code: string }).code))).toEqual(
      new Set(['database_error']),
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]?.message).toContain('password is wrong');
    expect(JSON.stringify(lines)).not.toContain('certainly-wrong');
    await refused.close();
  });

  it('a database that is read-only: reads go on, writes fail, one line; then it works again', async () => {
    const name = new URL(world.url).pathname.slice(1);
    log.length = 0;
    const reconnect = async (): Promise<void> => {
      proxy.cut();
      await expect.poll(() => proxy.connections()).toBe(0);
    };
    await world.client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await reconnect();
    for (let i = 0; i < 3; i++) {
      await expect(insert(engine, target, [note({})])).rejects.toMatchObject({ code: 'database_error' });
      await engine.count(target, null, within(5000));
    }
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining('read-only')]);
    await world.client.query('SET default_transaction_read_only = off');
    await world.client.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await reconnect();
    await insert(engine, target, [note({})]);
    expect(log.at(-1)?.message).toContain('works again');
  });
});
