import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { partsOf } from '#engine/model/queue-units.ts';
import type { DeadLetter, QueueBatch, QueuedEntry } from '#engine/queues.ts';
import type { TableTarget, Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { ID, row, rowsOf, where, within } from './engine-calls.ts';

/** Batches of a queue that are cut off somewhere: what they begin with, and what must have come of them in the end. */

const PLAIN_ID = { ...ID, autoIncrement: false };
const MONEY = { name: 'money', type: 'int32', nullable: true };
/** Tables of each namespace in which a case runs. */
export const TABLES = [
  { name: 'numbered', primaryKey: ['id'], columns: [ID, { name: 'n', type: 'int32', unique: true, nullable: true }] },
  { name: 'lines', columns: [{ name: 'n', type: 'int32', nullable: true }] },
  { name: 'scores', primaryKey: ['id'], columns: [PLAIN_ID, { name: 'n', type: 'int32', nullable: true }] },
  {
    name: 'accounts',
    primaryKey: ['id'],
    columns: [PLAIN_ID, MONEY, { name: 'name', type: 'string', nullable: true, unique: true }],
  },
];

type Plain = Readonly<Record<string, number | bigint | string | null>>;
type Work = Write | ApiError;

export interface QueueCase {
  readonly table: 'numbered' | 'lines' | 'scores' | 'accounts';
  readonly before: readonly Plain[];
  /** Work of each entry. With `retry` another attempt at a letter, of the number that the entry would have. */
  works(target: TableTarget): readonly (Work | { readonly retry: Work })[];
  readonly after: readonly object[];
  /** Besides those: what an insert that stops in the middle leaves where there are no transactions. */
  readonly halves?: readonly object[];
  /** Ids of letters without the journal, and their codes. */
  readonly letters?: Readonly<Record<string, string>>;
  /** All of them are operations of one batch that is not atomic. */
  readonly isBatch?: true;
}

const insert = (...rows: readonly Plain[]): Write => ({ op: 'insert', rows: rows.map(row) });
const upsert = (values: Plain): Write => ({
  op: 'upsert',
  row: row(values),
  keys: ['id'],
  update: Object.keys(values).filter((name) => name !== 'id'),
});
const byId = (target: TableTarget, id: number) => where(target, { field: 'id', op: 'eq', value: id });
const byName = (target: TableTarget, name: string) => where(target, { field: 'name', op: 'eq', value: name });
const add = (target: TableTarget, id: number, money: bigint): Write => ({
  op: 'update',
  filter: byId(target, id),
  set: row({}),
  inc: row({ money }),
});
const addTo = (target: TableTarget, id: number, n: bigint): Write => ({
  op: 'update',
  filter: byId(target, id),
  set: row({}),
  inc: row({ n }),
});
const upsertScore = (id: bigint, n: bigint): Write => ({
  op: 'upsert',
  row: row({ id, n }),
  keys: ['id'],
  update: ['n'],
});
const countUp = (id: bigint, money: bigint): Write & { op: 'upsert' } => ({
  ...{ op: 'upsert', row: row({ id, money }), keys: ['id'], update: [] },
  inc: row({ money }),
});
const addToAll = (money: bigint): Write => ({ op: 'update', filter: null, set: row({}), inc: row({ money }) });

const ACCOUNTS = [
  { id: 1n, money: 10n, name: 'a' },
  { id: 2n, money: null, name: 'b' },
  { id: 3n, money: 30n, name: null },
];

export const CASES: Readonly<Record<string, QueueCase>> = {
  'inserts that go together': {
    table: 'numbered',
    before: [],
    works: () => [insert({ n: 1 }), insert({ n: 2 }, { n: 3 }), insert({ n: 4 })],
    after: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }],
  },
  'inserts into a table without key': {
    table: 'lines',
    before: [],
    works: () => [insert({ n: 7 }), insert({ n: 7 }, { n: 5 })],
    after: [{ n: 7 }, { n: 7 }, { n: 5 }],
  },
  'inserts of which one stops in the middle': {
    table: 'numbered',
    before: [{ id: 1n, n: 9 }],
    works: () => [insert({ n: 1 }), insert({ n: 2 }, { n: 9 }, { n: 3 }), insert({ n: 4 }), insert({ n: 9 })],
    after: [{ n: 9 }, { n: 1 }, { n: 4 }],
    halves: [{ n: 2 }],
    letters: { 2: 'constraint_violation', 4: 'constraint_violation' },
  },
  'changes of one row again and again': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      add(target, 1, 5n),
      add(target, 1, 7n),
      { op: 'update', filter: byName(target, 'a'), set: row({ name: 'z' }), inc: row({ money: 1n }) },
      { op: 'update', filter: byName(target, 'b'), set: row({ name: 'a' }), inc: row({ money: 2n }) },
      add(target, 1, 2_147_483_647n),
      add(target, 1, 100n),
      add(target, 9, 1n),
    ],
    after: [
      { id: 1, money: 123, name: 'z' },
      { id: 2, money: 2, name: 'a' },
      { id: 3, money: 30, name: null },
    ],
    letters: { 5: 'invalid_value' },
  },
  'changes of many rows by one key': {
    table: 'scores',
    before: [
      { id: 1n, n: 10n },
      { id: 2n, n: null },
    ],
    works: (target) => [
      addTo(target, 1, 1n),
      addTo(target, 3, 1n),
      addTo(target, 2, 2n),
      upsertScore(3n, 30n),
      addTo(target, 2, 2_147_483_647n),
      addTo(target, 2, 20n),
      {
        op: 'update',
        filter: where(target, {
          and: [
            { field: 'id', op: 'eq', value: 1 },
            { field: 'n', op: 'gt', value: 50 },
          ],
        }),
        set: row({ n: 0n }),
        inc: row({}),
      },
      addTo(target, 1, 100n),
      addTo(target, 3, 300n),
      upsertScore(4n, 4n),
      upsertScore(5n, 5n),
      upsertScore(1n, 7n),
      addTo(target, 1, 1n),
    ],
    after: [
      { id: 1, n: 8 },
      { id: 2, n: 22 },
      { id: 3, n: 330 },
      { id: 4, n: 4 },
      { id: 5, n: 5 },
    ],
    letters: { 5: 'invalid_value' },
  },
  'changes of many rows': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      addToAll(5n),
      {
        op: 'update',
        filter: where(target, { field: 'money', op: 'gt', value: 10 }),
        set: row({}),
        inc: row({ money: -20n }),
      },
      addToAll(2_147_483_640n),
      addToAll(1n),
    ],
    after: [
      { id: 1, money: -4 },
      { id: 2, money: 6 },
      { id: 3, money: 16 },
    ],
    letters: { 3: 'invalid_value' },
  },
  'upserts of rows that are there and are not': {
    table: 'accounts',
    before: ACCOUNTS,
    works: () => [
      upsert({ id: 2n, money: 8n }),
      upsert({ id: 4n, money: 1n }),
      upsert({ id: 4n, money: 2n }),
      upsert({ id: 5n, money: 3n, name: 'a' }),
      upsert({ id: 2n, money: 9n, name: 'a' }),
      upsert({ id: 3n, name: 'c' }),
    ],
    after: [
      { id: 1, money: 10, name: 'a' },
      { id: 2, money: 8, name: 'b' },
      { id: 3, money: 30, name: 'c' },
      { id: 4, money: 2, name: null },
    ],
    letters: { 4: 'constraint_violation', 5: 'constraint_violation' },
  },
  'upserts that count up rows that are there, come and go': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      countUp(1n, 5n),
      countUp(4n, 1n),
      countUp(2n, 7n),
      countUp(4n, 2n),
      { op: 'delete', filter: byId(target, 4) },
      countUp(4n, 4n),
      countUp(1n, 5n),
      { ...countUp(4n, 9n), inc: row({}), isInsertOnly: true },
    ],
    after: [
      { id: 1, money: 20, name: 'a' },
      { id: 2, money: 7, name: 'b' },
      { id: 3, money: 30, name: null },
      { id: 4, money: 4, name: null },
    ],
  },
  'rows that come, go and come again': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      { op: 'delete', filter: byId(target, 1) },
      insert({ id: 1n, money: 1n }),
      addToAll(1n),
      { op: 'delete', filter: where(target, { field: 'money', op: 'lt', value: 3 }) },
      insert({ id: 2n, money: 2n, name: 'q' }),
      upsert({ id: 1n, money: 50n }),
      new ApiError('unknown_column', 'there is no column gone'),
      add(target, 2, 1n),
    ],
    after: [
      { id: 1, money: 50, name: null },
      { id: 2, money: 3, name: 'q' },
      { id: 3, money: 31, name: null },
    ],
    letters: { 7: 'unknown_column' },
  },
  'letters that are tried again': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      { retry: add(target, 1, 5n) },
      { retry: insert({ id: 1n }) },
      add(target, 1, 1n),
      { retry: insert({ id: 7n, money: 7n }) },
    ],
    after: [
      { id: 1, money: 16 },
      { id: 2, money: null },
      { id: 3, money: 30 },
      { id: 7, money: 7 },
    ],
    letters: { 2: 'constraint_violation' },
  },
  'a batch of which each operation is for itself': {
    table: 'accounts',
    before: ACCOUNTS,
    works: (target) => [
      insert({ id: 5n, money: 1n, name: 'q' }, { id: 6n, money: 1n }),
      { op: 'delete', filter: byId(target, 5) },
      insert({ id: 5n, money: 2n, name: 'q' }),
      add(target, 5, 3n),
      add(target, 6, 3n),
      add(target, 5, 3n),
      insert({ id: 6n, money: 9n }),
      addToAll(1n),
      { op: 'delete', filter: byId(target, 6) },
      upsert({ id: 6n, money: 50n }),
      add(target, 6, 1n),
    ],
    after: [
      { id: 1, money: 11 },
      { id: 2, money: 1 },
      { id: 3, money: 31 },
      { id: 5, money: 9, name: 'q' },
      { id: 6, money: 51 },
    ],
    letters: { '1-006': 'constraint_violation' },
    isBatch: true,
  },
};

/** The same as one entry. */
function asBatch(entries: readonly QueuedEntry[]): readonly QueuedEntry[] {
  const [first] = entries;
  if (first === undefined) return [];
  const parts = entries.map(({ op, work }) => {
    if (!(work instanceof ApiError || 'write' in work)) throw new Error('a batch within a batch');
    const rows = 'write' in work && work.write.op === 'insert' ? work.write.rows.length : 1;
    return { op, payload: () => '{}', rows, work };
  });
  return partsOf(first, { isAtomic: false, parts });
}

function batchOf(
  works: ReturnType<QueueCase['works']>,
  target: TableTarget,
  journal: string,
  token: number,
): QueueBatch {
  const entries = works.map((asked, i): QueuedEntry => {
    const work = 'retry' in asked ? asked.retry : asked;
    return {
      position: i + 1,
      letterId: `${journal}-${i + 1}`,
      isRetry: 'retry' in asked,
      kid: 'k',
      op: 'data.any',
      payload: '{}',
      time: 1,
      work: work instanceof ApiError ? work : { target, write: work },
    };
  });
  return { namespace: target.namespace, journal, token, entries };
}

function letterOf({ letterId: id, kid, op, payload, time }: QueuedEntry, namespace: string): DeadLetter {
  return {
    id,
    namespace,
    kid,
    op,
    payload,
    time,
    code: 'invalid_value',
    message: 'the first time',
    isRetryWanted: true,
  };
}

/** Nothing but what the case begins with, and a batch of a journal that owns the queue. */
export async function begin(
  engine: Engine,
  { before, works, isBatch }: QueueCase,
  target: TableTarget,
): Promise<QueueBatch> {
  const { namespace } = target;
  await engine.write(target, { op: 'delete', filter: null }, null, within(10_000));
  for (const { id } of await engine.queues.listLetters(namespace, within(10_000))) {
    await engine.queues.discardLetter(id, within(10_000));
  }
  if (before.length > 0) await engine.write(target, insert(...before), null, within(10_000));
  const journal = randomUUID().slice(0, 10);
  const { token } = await engine.queues.claimQueue(namespace, journal, within(10_000));
  const apart = batchOf(works(target), target, journal, token);
  const batch = isBatch === true ? { ...apart, entries: asBatch(apart.entries) } : apart;
  const retried = batch.entries.filter(({ isRetry }) => isRetry);
  const letters = retried.map((entry) => letterOf(entry, namespace));
  await engine.queues.addLetters(letters, within(10_000));
  return batch;
}

export async function expectDone(
  engine: Engine,
  { table, after, halves = [], letters = {} }: QueueCase,
  target: TableTarget,
  batch: QueueBatch,
  when: string,
): Promise<void> {
  const found = await rowsOf(engine, target);
  const rows = [...after, ...(engine.capabilities.transactions ? [] : halves)];
  const expected = rows.map((each) => expect.objectContaining(each));
  // Only without key does the order tell which row came first.
  expect(found, when).toEqual(table === 'lines' ? expected : expect.arrayContaining(expected));
  expect(found, when).toHaveLength(rows.length);
  const there = await engine.queues.listLetters(target.namespace, within(10_000));
  const codes = there.map(({ id, code, isRetryWanted }) => [id, code, isRetryWanted]);
  expect(codes, when).toEqual(Object.entries(letters).map(([at, code]) => [`${batch.journal}-${at}`, code, false]));
  const queue = await engine.queues.readQueue(target.namespace, batch.journal, within(10_000));
  expect(queue, when).toMatchObject({ journal: batch.journal, position: batch.entries.at(-1)?.position });
}
