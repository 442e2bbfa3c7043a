import { MongoServerError, MongoServerSelectionError, ObjectId, type TopologyDescription } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Leases } from '#engine/cluster/leases.ts';
import type { Engine } from '#engine/engine.ts';
import { createClusterCalls } from '#engine/mongo/cluster.ts';
import type { MongoDatabase } from '#engine/mongo/connection.ts';
import { failureOf } from '#engine/mongo/failures.ts';
import { type KeyedWrite, Operations } from '#engine/mongo/keyed/operations.ts';
import { type OperationDocument, recordId } from '#engine/mongo/keyed/records.ts';
import { MarkSweep } from '#engine/mongo/keyed/sweep.ts';
import type { RunSchemaWork } from '#engine/mongo/schema/collections.ts';
import { SchemaLease } from '#engine/mongo/schema/lease.ts';
import { Call } from '#engine/mongo/session.ts';
import type { TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { declare, row, rowsOf, where, within } from '../engine-calls.ts';
import { slot, WriteWorld } from './write-world.ts';

/** Callers, sidecars and late statements that meet between two commands. */

let world: WriteWorld;
let engine: Engine;
let target: TableTarget;
let call: Call;

const SCORES = {
  name: 'scores',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', nullable: true, unique: true },
    { name: 'n', type: 'int32', nullable: true },
  ],
};

beforeAll(async () => {
  world = await WriteWorld.open();
  engine = await world.engine();
  const tables = await declare(engine, 'game', [SCORES]);
  if (tables.scores === undefined) throw new Error('scores is not declared');
  target = tables.scores;
  call = new Call(world.client.db(), within(60_000));
});

afterAll(async () => {
  call.end();
  await world.close();
});

const records = () => world.client.db().collection<OperationDocument>('_idempotency');

function left(key: ReturnType<typeof slot>, about: Partial<OperationDocument>): OperationDocument {
  const { kid, namespace, fingerprint, expiresAt } = key;
  const begun = { operation: new ObjectId(), owner: 'dead', until: 0, state: 'begun', expiresAt } as const;
  return { _id: recordId(key), kid, namespace, key: key.key, fingerprint, ...begun, ...about };
}

describe('a write with a key', () => {
  const sweep = new MarkSweep({} as MongoDatabase);
  const keyed = (key: ReturnType<typeof slot>, run: KeyedWrite['run']): KeyedWrite => ({
    slot: key,
    collection: 'game__scores',
    marks: false,
    run,
  });

  it('that another sidecar has taken over and done leaves the record alone when it is refused late', async () => {
    const operations = new Operations({ sweep });
    const key = slot();
    const late = keyed(key, async () => {
      await records().updateOne({ _id: recordId(key) }, { $set: { owner: 'other', state: 'done', result: 'first' } });
      throw new ApiError('constraint_violation', 'late');
    });
    await expect(operations.run(call, late, within(4000))).rejects.toThrow('late');
    expect(await records().findOne({ _id: recordId(key) })).toMatchObject({ state: 'done', result: 'first' });
  });

  it('has one result, also where two attempts come to their end', async () => {
    const operations = new Operations({ sweep });
    const key = slot();
    const late = keyed(key, async () => {
      await records().updateOne({ _id: recordId(key) }, { $set: { owner: 'other', state: 'done', result: 'first' } });
      return { result: 'second', marked: null };
    });
    expect(await operations.run(call, late, within(4000))).toBe('first');
    expect(await records().findOne({ _id: recordId(key) })).toMatchObject({ result: 'first' });
  });

  it('deletes by no plan that is not stored', async () => {
    const operations = new Operations({ sweep });
    const key = slot();
    const late = keyed(key, async (operation) => {
      await records().updateOne({ _id: recordId(key) }, { $set: { owner: 'other' } });
      await operation.savePlan({ ids: [], affected: 0 });
      return { result: 'deleted', marked: null };
    });
    await expect(operations.run(call, late, within(4000))).rejects.toMatchObject({ code: 'conflict_retry' });
    expect(await records().findOne({ _id: recordId(key) })).not.toHaveProperty('plan');
  });

  it('that changed its one row changes no other that matches by now', async () => {
    const key = slot();
    const record = left(key, { marked: 'game__scores' });
    await engine.write(target, insertOf([1n, 'new', 5], [2n, 'old', 5]), null, within(4000));
    await world.collection('game__scores').updateOne({ name: 'new' }, { $push: { _ops: record.operation as never } });
    await records().insertOne(record);
    const filter = where(target, { field: 'name', op: 'eq', value: 'old' });
    const write = { op: 'update', filter, set: row({ n: 6 }), inc: row({}) } as const;
    expect(await engine.write(target, write, key, within(4000))).toBe('{"affected":1}');
    expect(await rowsOf(engine, target)).toEqual([
      { id: 1, name: 'new', n: 5 },
      { id: 2, name: 'old', n: 5 },
    ]);
  });

  it('leaves no marks where its key is used anew before they were looked for', async () => {
    const key = slot();
    const record = left(key, { state: 'done', result: '', expiresAt: 1, marked: 'game__scores' });
    await engine.write(target, insertOf([7n, 'marked', 1]), null, within(4000));
    await world
      .collection('game__scores')
      .updateOne({ name: 'marked' }, { $push: { _ops: record.operation as never } });
    await records().insertOne(record);
    await engine.write(target, insertOf([8n, 'anew', 1]), key, within(4000));
    const hasMarks = { _ops: record.operation };
    await expect.poll(() => world.collection('game__scores').countDocuments(hasMarks)).toBe(0);
    expect(await records().findOne({ _id: record._id })).toMatchObject({ state: 'done' });
  });
});

function insertOf(...rows: readonly (readonly [bigint, string, number])[]) {
  return { op: 'insert', rows: rows.map(([id, name, n]) => row({ id, name, n })) } as const;
}

it('marks are swept as fast as they come', async () => {
  vi.useFakeTimers();
  try {
    let changes = 0;
    const send = () => {
      changes += 1;
      return Promise.resolve();
    };
    const session = { send };
    const database = { run: (_bounds: unknown, _kind: unknown, work: (s: unknown) => unknown) => work(session) };
    const sweep = new MarkSweep(database as unknown as MongoDatabase);
    for (let i = 0; i < 2000; i++) {
      sweep.add({ record: String(i), collection: 'c', operation: new ObjectId(), among: null }, false);
    }
    await vi.advanceTimersByTimeAsync(1100);
    // A turn takes 500 of them, and tells their records so.
    expect(changes).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

describe('a statement', () => {
  const none = () => new MongoServerSelectionError('none', {} as TopologyDescription);
  const hanging = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  it.each([
    [1, 'timeout'],
    [0, 'unreachable'],
  ])('that got %i connections when its time ended, after a try without, is told as %s', async (connections, kind) => {
    let taken = 0;
    let tries = 0;
    const patient = new Call(world.client.db(), within(300), () => taken);
    const result = patient.send((_db, { signal }) => {
      tries += 1;
      if (tries === 1) throw none();
      taken += connections;
      return hanging(signal);
    });
    const error: unknown = await result.catch((thrown: unknown) => thrown);
    patient.end();
    expect(failureOf(error)).toMatchObject({ kind });
  });

  it('that always meets another write is repeated five times, later and later', async () => {
    const conflict = new MongoServerError({ code: 112, message: 'Write conflict during plan execution' });
    const sentAt: number[] = [];
    const patient = new Call(world.client.db(), within(20_000));
    const result = patient.send(() => {
      sentAt.push(performance.now());
      throw conflict;
    });
    await expect(result).rejects.toBe(conflict);
    patient.end();
    const pauses = sentAt.slice(1).map((at, index) => at - Number(sentAt[index]));
    expect(pauses).toHaveLength(5);
    // The shortest that chance may choose, less the millisecond by which a timer may be early.
    for (const [index, ms] of pauses.entries()) expect(ms).toBeGreaterThan(30 * 2 ** index - 1);
  });
});

it('a schema change that a sidecar finishes waits for what the same sidecar has under way', async () => {
  const run: RunSchemaWork = async (bounds, work) => {
    const own = new Call(world.client.db(), bounds);
    try {
      return await work(own);
    } finally {
      own.end();
    }
  };
  const leases = new Leases(createClusterCalls(run), { instance: () => 'me', now: Date.now, log: () => {} });
  const lease = new SchemaLease({ run, leases, callMs: 4000 });
  const order: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  await new Promise<void>((resolve) => {
    const operation = lease.run(target, within(4000), async () => {
      resolve();
      await ended;
      order.push('operation');
    });
    operation.catch(() => {});
  });
  // The other sidecar of this database has nothing under way.
  await world.collection('_sidecars').updateMany({}, { $set: { 'acks.game': 'token' } });
  const waiting = run(within(10_000), (work) => lease.wait(work, 'game', 'token')).then(() => order.push('change'));
  await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 500))]);
  end();
  await waiting;
  await lease.close();
  expect(order).toEqual(['operation', 'change']);
});
