import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { fenced } from '#engine/model/queue-places.ts';
import { JournalMarks } from '#engine/mongo/queue/marks.ts';
import { type Orphan, type QueueBatch, type QueuedEntry, QueueLostError, type QueueRow } from '#engine/queues.ts';
import type { TableTarget, Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { planSchema } from '#sidecar/schema/plan.ts';
import { declare, row, rowsOf, where, within } from '../engine-calls.ts';
import { MOVED, OWNED } from '../owned-queues.ts';
import { Cutter } from './cutter.ts';
import { WriteWorld } from './write-world.ts';

let world: WriteWorld;
let engine: Engine;

beforeAll(async () => {
  world = await WriteWorld.open();
  engine = await world.engine();
});

afterAll(() => world.close());

const SCORES = {
  name: 'scores',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'n', type: 'int32', nullable: true },
  ],
};

async function scoresOf(namespace: string): Promise<TableTarget> {
  return (await declare(engine, namespace, [SCORES])).scores as TableTarget;
}

const insert = (...ids: readonly bigint[]): Write => ({ op: 'insert', rows: ids.map((id) => row({ id, n: 0 })) });
const upsert = (id: bigint, n: number): Write => ({ op: 'upsert', row: row({ id, n }), keys: ['id'], update: ['n'] });
const addToAll = (n: bigint): Write => ({ op: 'update', filter: null, set: row({}), inc: row({ n }) });
const add = (target: TableTarget, id: number, n: bigint): Write => ({
  op: 'update',
  filter: where(target, { field: 'id', op: 'eq', value: id }),
  set: row({}),
  inc: row({ n }),
});
const remove = (target: TableTarget, id: number): Write => ({
  op: 'delete',
  filter: where(target, { field: 'id', op: 'eq', value: id }),
});

function entriesOf(target: TableTarget, journal: string, writes: readonly (Write | ApiError)[]): QueuedEntry[] {
  return writes.map((write, i) => ({
    position: i + 1,
    letterId: `${journal}-${i + 1}`,
    isRetry: false,
    kid: 'k',
    op: 'data.any',
    payload: '{}',
    time: 1,
    work: write instanceof ApiError ? write : { target, write },
  }));
}

async function claimed(target: TableTarget, journal: string, writes: readonly (Write | ApiError)[]) {
  const { namespace } = target;
  const { token } = await engine.queues.claimQueue(namespace, journal, within(10_000));
  return { namespace, journal, token, entries: entriesOf(target, journal, writes) } satisfies QueueBatch;
}

/** As a crash leaves it that comes after the writes and before the position has moved. */
async function turnBack(namespace: string, position: number): Promise<void> {
  await world
    .collection('_journals')
    .updateOne({ _id: `${namespace}/j` as never }, { $set: { position: Long.fromNumber(position) } });
}

/** Collections that a sidecar reads by the clock, and not for a write. */
const LEASE_COLLECTIONS = ['_schemas', '_sidecars'];

describe('an attempt that is slow, while a restore fences it', () => {
  /** Every kind of step; none can be joined with its neighbour. */
  const writesOf = (target: TableTarget): Write[] => [
    insert(1n, 2n),
    addToAll(1n),
    add(target, 1, 10n),
    remove(target, 2),
    upsert(3n, 30),
    addToAll(100n),
  ];

  it('gets no further than the step it is in', { timeout: 60_000 }, async () => {
    const target = await scoresOf('slow');
    const states: unknown[][] = [[]];
    for (const write of writesOf(target)) {
      await engine.write(target, write, null, within(10_000));
      states.push(await rowsOf(engine, target));
    }
    const cutter = await Cutter.open(world.url, LEASE_COLLECTIONS);
    const slow = await world.engine({ url: cutter.url });
    let losses = 0;
    for (let commands = 0; ; commands++) {
      await engine.write(target, { op: 'delete', filter: null }, null, within(10_000));
      const batch = await claimed(target, `old-${commands}`, writesOf(target));
      await slow.count(target, null, within(10_000));
      const held = cutter.holdAfter(commands).then(() => true);
      const outcome = slow.queues.applyQueue(batch, within(10_000)).catch((error: unknown) => error);
      if (!(await Promise.race([held, outcome.then(() => false)]))) break;
      const row = fenced((await engine.queues.readQueue('slow', batch.journal, within(10_000))) as QueueRow);
      await engine.transfer.writeQueue(row, within(10_000));
      cutter.release();
      expect(await outcome).toBeInstanceOf(QueueLostError);
      losses += 1;
      const { position } = row.past.at(-1) as QueueRow['past'][number];
      expect([states[position], states[position + 1]]).toContainEqual(await rowsOf(engine, target));
      expect(await engine.queues.readQueue('slow', batch.journal, within(10_000))).toEqual(row);
      await expect(slow.queues.applyQueue(batch, within(10_000))).rejects.toThrow(QueueLostError);
    }
    await cutter.close();
    expect(losses).toBeGreaterThan(10);
  });
});

it('an entry alone has longer than a live write, and nobody changes the schema meanwhile', {
  timeout: 60_000,
}, async () => {
  const target = await scoresOf('long');
  const cutter = await Cutter.open(world.url, LEASE_COLLECTIONS);
  const slow = await world.engine({ url: cutter.url, statementTimeoutMs: 1000 });
  const batch = await claimed(target, 'j', [insert(1n), addToAll(1n)]);
  await slow.queues.applyQueue({ ...batch, entries: batch.entries.slice(0, 1) }, within(20_000));
  // The look at the queue goes through, and the write waits.
  const held = cutter.holdAfter(1);
  const outcome = slow.queues.applyQueue({ ...batch, entries: batch.entries.slice(1) }, within(20_000));
  await held;
  // Longer than a schema change would wait for a sidecar that has the usual time and does not answer: 2.25 s.
  const changed = sync('long', {
    tables: [{ ...SCORES, columns: [...SCORES.columns, { name: 'b', type: 'bool', nullable: true }] }],
  });
  expect(await Promise.race([changed, new Promise((resolve) => setTimeout(() => resolve('waits'), 3500))])).toBe(
    'waits',
  );
  cutter.release();
  expect(await outcome).toEqual([]);
  expect(await rowsOf(engine, await changed)).toMatchObject([{ id: 1, n: 1, b: null }]);
  // Killed now, it would hold up changes for as long as it has said that its operations last.
  await slow.close();
  await cutter.close();
});

it('does not wait for a live write of the same key that was cut off', { timeout: 60_000 }, async () => {
  const target = await scoresOf('cut');
  const slot = { kid: 'k', namespace: 'cut', key: 'once', fingerprint: 'live', now: 0, expiresAt: Date.now() + 60_000 };
  const cutter = await Cutter.open(world.url, LEASE_COLLECTIONS);
  const dying = await world.engine({ url: cutter.url });
  await dying.count(target, null, within(10_000));
  // Its record is stored, and nothing of the write is done.
  const cut = cutter.cutAfter(1);
  const lost = dying.write(target, insert(1n), slot, within(1000)).catch(({ code }) => code);
  await cut;
  await cutter.close();
  const { entries, ...queue } = await claimed(target, 'cut', [insert(2n), insert(3n), insert(4n)]);
  const keyed = entries.map((entry, i) =>
    i === 1 ? { ...entry, claim: { slot: { ...slot, fingerprint: 'queued' }, answer: 'own' } } : entry,
  );
  // As long as its sidecar may be at work the attempt fails.
  const apply = () => engine.queues.applyQueue({ ...queue, entries: keyed }, within(10_000));
  const letters = await vi.waitFor(apply, { timeout: 20_000, interval: 100 });
  expect(letters).toMatchObject([
    { id: 'cut-2', code: 'idempotency_conflict', message: expect.stringMatching(/cut off/) },
  ]);
  expect(await rowsOf(engine, target)).toMatchObject([{ id: 2 }, { id: 4 }]);
  expect(['database_timeout', 'database_error']).toContain(await lost);
});

describe('the place of the last write, which documents bear', () => {
  it('is seen by nobody, and live writes leave it', async () => {
    const target = await scoresOf('seen');
    const batch = await claimed(target, 'j', [insert(1n, 2n), add(target, 1, 5n), upsert(3n, 3)]);
    await engine.queues.applyQueue(batch, within(10_000));
    expect(await rowsOf(engine, target)).toEqual([
      { id: 1, n: 5 },
      { id: 2, n: 0 },
      { id: 3, n: 3 },
    ]);
    const marks = () => world.collection('seen__scores').distinct(new JournalMarks('j').field);
    expect(await marks()).toHaveLength(3);
    await engine.write(target, addToAll(1n), null, within(10_000));
    await engine.write(target, upsert(3n, 9), null, within(10_000));
    await engine.write(target, insert(4n), null, within(10_000));
    expect(await marks()).toHaveLength(3);
    expect(
      await world.collection('seen__scores').countDocuments({ [new JournalMarks('j').field]: { $exists: false } }),
    ).toBe(1);
    await turnBack('seen', 0);
    const other = await world.engine();
    await other.queues.applyQueue(batch, within(10_000));
    expect(await rowsOf(engine, target)).toEqual([
      { id: 1, n: 6 },
      { id: 2, n: 1 },
      { id: 3, n: 9 },
      { id: 4, n: 0 },
    ]);
  });

  it('outlives a schema change, so that what was applied before it is passed by after it', async () => {
    const target = await scoresOf('moved');
    const writes = (of: TableTarget) => [insert(1n, 2n), add(of, 1, 5n), addToAll(1n)];
    const batch = await claimed(target, 'j', writes(target));
    await engine.queues.applyQueue(batch, within(10_000));
    const renamed = await sync('moved', {
      tables: [
        {
          name: 'points',
          renamedFrom: 'scores',
          primaryKey: ['id'],
          columns: [
            { name: 'id', type: 'int64' },
            { name: 'n', type: 'int64', nullable: true },
            { name: 'extra', type: 'uuid', default: 'random' },
          ],
        },
      ],
    });
    const before = await rowsOf(engine, renamed);
    for (const position of [0, 1, 2]) {
      await turnBack('moved', position);
      const other = await world.engine();
      const entries = entriesOf(renamed, 'j', writes(renamed));
      // Usually later entries are not there yet when an entry is repeated; here they are, and must be left alone as well.
      const again = { ...batch, entries: entries.slice(position) };
      expect(await other.queues.applyQueue(again, within(10_000))).toEqual([]);
      expect(await rowsOf(engine, renamed)).toEqual(before);
    }
    expect(before).toMatchObject([
      { id: 1, n: 6 },
      { id: 2, n: 1 },
    ]);
  });

  it('tells who copies the tables whether a write is begun that the position does not know of', async () => {
    const target = await scoresOf('halves');
    const isHalf = async () => {
      const queue = await engine.queues.readQueue('halves', 'j', within(10_000));
      return engine.transfer.hasHalfApplied(queue as QueueRow, within(10_000));
    };
    const batch = await claimed(target, 'j', [insert(1n), add(target, 1, 5n)]);
    expect(await isHalf()).toBe(false);
    await engine.queues.applyQueue(batch, within(10_000));
    expect(await isHalf()).toBe(false);
    await turnBack('halves', 1);
    expect(await isHalf()).toBe(true);
    await engine.queues.applyQueue(batch, within(10_000));
    expect(await isHalf()).toBe(false);
    // A fence: positions go on, and what was applied before is no half.
    const place = await engine.queues.readQueue('halves', 'j', within(10_000));
    await engine.transfer.writeQueue(fenced(place as QueueRow), within(10_000));
    expect(await isHalf()).toBe(false);
  });

  it('tells the letters of a journal that was fenced what had begun', async () => {
    const target = await scoresOf('begun');
    const batch = await claimed(target, 'j', [insert(1n), add(target, 1, 5n), insert(2n, 3n), insert(4n)]);
    await engine.queues.applyQueue({ ...batch, entries: batch.entries.slice(0, 3) }, within(10_000));
    await turnBack('begun', 1);
    const place = await engine.queues.readQueue('begun', 'j', within(10_000));
    await engine.transfer.writeQueue(fenced(place as QueueRow), within(10_000));
    const orphans = batch.entries.map(({ position, letterId: id, work: _, isRetry: __, ...about }) => ({
      position,
      letter: {
        ...about,
        id,
        namespace: 'begun',
        code: 'write_buffer_unavailable',
        message: 'lost',
        isRetryWanted: false,
      },
    }));
    await engine.queues.buryOrphans(batch, orphans as readonly Orphan[], within(10_000));
    const letters = await engine.queues.listLetters('begun', within(10_000));
    const hint = expect.stringMatching(/^lost; it had begun/);
    expect(letters.map(({ id, message }) => [id, message])).toEqual([
      ['j-2', hint],
      ['j-3', hint],
      ['j-4', 'lost'],
    ]);
  });

  it('is kept while other journals write the same documents', async () => {
    const target = await scoresOf('shared');
    const mine = await claimed(target, 'j', [insert(1n), add(target, 1, 5n), upsert(1n, 7), remove(target, 9)]);
    await engine.queues.applyQueue(mine, within(10_000));
    const theirs = await claimed(target, 'other', [add(target, 1, 100n), upsert(2n, 2)]);
    await engine.queues.applyQueue(theirs, within(10_000));
    const before = await rowsOf(engine, target);
    for (const position of [0, 1, 2, 3]) {
      await turnBack('shared', position);
      const back = await world.engine();
      expect(await back.queues.applyQueue(mine, within(10_000))).toEqual([]);
      expect(await rowsOf(engine, target)).toEqual(before);
    }
  });

  it('of another journal, or of a dump, stands in no way', async () => {
    const target = await scoresOf('dump');
    const first = await claimed(target, 'first', [insert(1n), add(target, 1, 5n), add(target, 1, 6n)]);
    await engine.queues.applyQueue(first, within(10_000));
    const second = await claimed(target, 'second', [add(target, 1, 100n), upsert(2n, 2), remove(target, 9)]);
    await engine.queues.applyQueue(second, within(10_000));
    expect(await rowsOf(engine, target)).toEqual([
      { id: 1, n: 111 },
      { id: 2, n: 2 },
    ]);
  });
});

it('the owners of a version before are moved to places, and what they had begun is passed by', async () => {
  const target = await scoresOf('owned');
  const batch = await claimed(target, 'j', [insert(1n), add(target, 1, 5n), upsert(1n, 7)]);
  await engine.queues.applyQueue(batch, within(10_000));
  const before = await rowsOf(engine, target);
  // As the version before has left it in the middle: its mark is `_q`, and the position has not moved.
  const { field } = new JournalMarks('j');
  await world.collection('owned__scores').updateMany({}, { $rename: { [field]: '_q' } });
  await world.collection('_journals').deleteMany({});
  const places = [...OWNED, { namespace: 'owned', journal: 'j', token: 1, position: 1, past: [] }];
  await world.collection('_queues').insertMany(
    places.map(({ namespace, token, position, past, ...owner }) => ({
      ...owner,
      ...{ _id: namespace as never, token: Long.fromNumber(token), position: Long.fromNumber(position) },
      past: past.map((each) => ({
        ...each,
        token: Long.fromNumber(each.token),
        position: Long.fromNumber(each.position),
      })),
    })),
  );
  const next = await world.engine();
  expect(await next.queues.claimQueue('owned', 'j', within(10_000))).toMatchObject({ token: 1, position: 1 });
  expect(await next.queues.listQueues(null, within(10_000))).toEqual(expect.arrayContaining(MOVED));
  expect(await next.queues.applyQueue(batch, within(10_000))).toEqual([]);
  expect(await rowsOf(next, target)).toEqual(before);
  expect(await world.collection('_queues').countDocuments()).toBe(0);
});

async function sync(namespace: string, declared: object): Promise<TableTarget> {
  const stored = await engine.schemas.readSchema(namespace, within(10_000));
  if (stored === null) throw new Error(`${namespace} is not declared`);
  const { schema, renames } = parseSchema(declared as unknown as JsonObject);
  const { steps } = planSchema(stored.schema, schema, renames, 'quarantine');
  const change = { namespace, from: stored, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change as never, within(20_000));
  const [table] = schema.tables;
  if (table === undefined) throw new Error('no table');
  return { namespace, revision: stored.revision + 1, table };
}
