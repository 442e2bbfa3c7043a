import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { POSTGRES_QUEUES } from '#engine/postgres/batch.ts';
import type { QueueBatch, QueueCalls, QueuedEntry } from '#engine/queues.ts';
import { StaleSchemaError, type TableTarget, type Write } from '#engine/rows.ts';
import { createQueues } from '#engine/sql/queue/apply.ts';
import { ApiError } from '#protocol/errors.ts';
import { CrashingSessions, connect, type PostgresWorld, postgresWorld, within } from './schema-world.ts';
import { byId, declare, idsOf, note } from './world.ts';

let world: PostgresWorld;
let engine: Engine;

beforeAll(async () => {
  world = await postgresWorld();
  engine = await world.open();
});

afterAll(async () => {
  await world.drop();
});

let namespaces = 0;

/** A namespace with `notes`, whose queue belongs to journal `a`. */
async function newQueue() {
  namespaces += 1;
  const namespace = `queue${namespaces}`;
  const target = await declare(engine, namespace);
  await engine.queues.claimQueue(namespace, 'a', within(5000));
  const batchOf = (entries: readonly QueuedEntry[]): QueueBatch => ({ namespace, journal: 'a', token: 1, entries });
  const apply = (entries: readonly QueuedEntry[], { queues }: { queues: QueueCalls } = engine, ms = 5000) =>
    queues.applyQueue(batchOf(entries), within(ms));
  const position = async () => (await engine.queues.readQueue(namespace, 'a', within(5000)))?.position;
  const n = async () => (await world.column(`SELECT string_agg(n::text, ',' ORDER BY id) FROM ${namespace}__notes`))[0];
  const letters = () => engine.queues.listLetters(namespace, within(5000));
  return { namespace, target, apply, position, n, letters };
}

function entry(target: TableTarget, position: number, write: Write): QueuedEntry {
  const texts = { letterId: `${target.namespace}-${position}`, kid: 'local', op: write.op, payload: '{}' };
  return { ...texts, position, isRetry: false, time: position, work: { target, write } };
}

function insertNote(id: number): Write {
  return { op: 'insert', rows: [note({ id })] };
}

function increment(target: TableTarget, id: number): Write {
  return { op: 'update', filter: byId(target, id), set: new Map(), inc: new Map([['n', 1n]]) };
}

describe('a process that dies at a statement of a batch', () => {
  /** A letter of the third entry is attempted again, one of the inserts stands already, and one never can be done. */
  async function prepared() {
    const queue = await newQueue();
    const { target, apply } = queue;
    await apply([entry(target, 1, insertNote(1)), entry(target, 2, insertNote(1))]);
    const again = { ...entry(target, 6, insertNote(9)), letterId: `${target.namespace}-2`, isRetry: true };
    const refused = { ...entry(target, 7, insertNote(1)), work: new ApiError('unknown_column', 'gone') };
    const writes = [insertNote(2), insertNote(1), insertNote(3)];
    const entries = [
      ...writes.map((write, i) => entry(target, i + 3, write)),
      again,
      refused,
      entry(target, 8, increment(target, 1)),
    ];
    return { ...queue, entries };
  }

  async function outcome({ target, n, position, letters }: Awaited<ReturnType<typeof prepared>>) {
    const left = (await letters()).map(({ id, code }) => [id.replace(target.namespace, 'queue'), code]);
    return { ids: await idsOf(engine, target), n: await n(), position: await position(), left };
  }

  it('leaves what the next attempt completes, everything once', async () => {
    const whole = new CrashingSessions(world.url);
    const example = await prepared();
    await example.apply(example.entries, { queues: createQueues(whole, POSTGRES_QUEUES) });
    const expected = await outcome(example);
    expect(expected).toMatchObject({ ids: [1, 2, 3, 9], n: '1,0,0,0', position: 8 });
    expect(expected.left).toEqual([
      ['queue-4', 'constraint_violation'],
      ['queue-7', 'unknown_column'],
    ]);
    expect(whole.statements.length).toBeGreaterThan(10);

    const last = whole.statements.length;
    // Before COMMIT all are alike but for what the server is left with.
    for (const at of [...Array(last).keys()].filter((i) => i % 6 === 2).concat(last)) {
      for (const isSent of [false, true]) {
        const queue = await prepared();
        const crashing = createQueues(new CrashingSessions(world.url, { at, isSent }), POSTGRES_QUEUES);
        const dead = await queue.apply(queue.entries, { queues: crashing }).catch((error: Error) => error.message);
        // A statement that the server refuses has its answer before the end comes.
        if (!isSent || typeof dead === 'string') expect(dead).toBe('the process is gone');
        await queue.apply(queue.entries);
        expect(await outcome(queue), `${at} ${isSent}`).toEqual(expected);
      }
    }
  });
});

it('connections that are ended in the middle, again and again, make nothing twice', async () => {
  const { target, apply, n } = await newQueue();
  await apply([entry(target, 1, insertNote(1))]);
  const total = 200;
  const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`;
  let isOver = false;
  const ending = (async () => {
    while (!isOver) await world.client.query(others);
  })();
  let ended = 0;
  for (let next = 2; next <= total; ) {
    const entries = Array.from({ length: 20 }, (_, i) => entry(target, next + i, increment(target, 1)));
    try {
      await apply(entries);
      next += 20;
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^database_(error|timeout)$/) });
      ended += 1;
      // As soon as it has been seen to go on, it may come to its end.
      if (ended === 5) isOver = true;
    }
  }
  isOver = true;
  await ending;
  expect(await n()).toBe('200');
});

it.each([
  ['table', 'DROP TABLE NAMESPACE__notes'],
  ['column', 'ALTER TABLE NAMESPACE__notes DROP COLUMN n'],
])('a %s that was dropped by hand is another schema than that of the write', async (_, statement) => {
  const { namespace, target, apply, position } = await newQueue();
  await apply([entry(target, 1, insertNote(1))]);
  await world.client.query(statement.replace('NAMESPACE', namespace));
  await expect(apply([entry(target, 2, insertNote(2))])).rejects.toThrow(StaleSchemaError);
  expect(await position()).toBe(1);
});

it('a batch waits for whoever holds the row of the queue, and by its deadline nothing of it is done', async () => {
  const { namespace, target, apply, position } = await newQueue();
  const holder = await connect(world.url);
  await holder.query('BEGIN');
  await holder.query('SELECT 1 FROM _journals WHERE namespace = $1 FOR UPDATE', [namespace]);
  await expect(apply([entry(target, 1, insertNote(1))], engine, 300)).rejects.toMatchObject({
    code: 'database_timeout',
  });
  const waiting = apply([entry(target, 1, insertNote(2))]);
  await holder.query('ROLLBACK');
  await holder.end();
  expect(await waiting).toEqual([]);
  expect(await position()).toBe(1);
  expect(await idsOf(engine, target)).toEqual([2]);
});

it('a write that a trigger made by hand refuses is a dead letter, and those after it are applied', async () => {
  const { namespace, target, apply, letters } = await newQueue();
  const raise = `BEGIN IF NEW.id = 2 THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END`;
  await world.column(`CREATE FUNCTION ${namespace}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ ${raise} $$`);
  const on = `BEFORE INSERT ON ${namespace}__notes FOR EACH ROW EXECUTE FUNCTION ${namespace}_refuse()`;
  await world.column(`CREATE TRIGGER refuse ${on}`);
  await apply([1, 2, 3].map((id) => entry(target, id, insertNote(id))));
  expect(await idsOf(engine, target)).toEqual([1, 3]);
  expect(await letters()).toMatchObject([{ code: 'constraint_violation' }]);
});
