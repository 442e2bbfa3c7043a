import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { IdempotencySlot, TableTarget, Write } from '#engine/rows.ts';
import type { ApiError } from '#protocol/errors.ts';
import { declare, ID, row, rowsOf, where, within } from '../engine-calls.ts';
import { Cutter } from './cutter.ts';
import { slot, WriteWorld } from './write-world.ts';

/**
 * A sidecar that dies before any of its commands in a write with an idempotency key. Another one that gets the same key
 * brings the rows to where they would be without the crash, answers as if nothing had happened, and writes nothing when
 * it is asked once more.
 */

let world: WriteWorld;
let survivor: Engine;

const TABLES = [
  { name: 'numbered', primaryKey: ['id'], columns: [ID, { name: 'n', type: 'int32', unique: true, nullable: true }] },
  { name: 'lines', columns: [{ name: 'n', type: 'int32', nullable: true }] },
  {
    name: 'accounts',
    primaryKey: ['id'],
    columns: [
      { ...ID, autoIncrement: false },
      { name: 'money', type: 'int64', nullable: true },
    ],
  },
];

beforeAll(async () => {
  world = await WriteWorld.open();
  survivor = await world.engine();
});

afterAll(() => world.close());

interface Case {
  readonly table: string;
  readonly before: readonly Readonly<Record<string, number | bigint | null>>[];
  write(target: TableTarget): Write;
  /** The result, or the code and the first words of the failure that is remembered. */
  readonly answer: string | RegExp;
  readonly after: readonly object[];
}

const accounts = [
  { id: 1n, money: 10n },
  { id: 2n, money: null },
  { id: 3n, money: 30n },
];

const adding = { op: 'upsert', keys: ['id'], update: [], inc: row({ money: 5n }) } as const;
const inserting = { op: 'upsert', keys: ['id'], update: [], isInsertOnly: true } as const;

const CASES: Readonly<Record<string, Case>> = {
  'an insert': {
    table: 'numbered',
    before: [],
    write: () => ({ op: 'insert', rows: [1, 2, 3].map((n) => row({ n })) }),
    answer: /^\{"inserted":3,"ids":\[\d+,\d+,\d+\]\}$/,
    after: [{ n: 1 }, { n: 2 }, { n: 3 }],
  },
  'an insert into a table without key': {
    table: 'lines',
    before: [],
    write: () => ({ op: 'insert', rows: [7, 7, 5].map((n) => row({ n })) }),
    answer: '{"inserted":3,"ids":[]}',
    after: [{ n: 7 }, { n: 7 }, { n: 5 }],
  },
  'an insert that stops in the middle': {
    table: 'numbered',
    before: [{ id: 1n, n: 9 }],
    write: () => ({ op: 'insert', rows: [1, 2, 9, 3].map((n) => row({ n })) }),
    answer: /^constraint_violation rows\[2\]: a row with this n already exists; the 2 rows before it stay inserted$/,
    after: [{ n: 9 }, { n: 1 }, { n: 2 }],
  },
  'an inc of one row': {
    table: 'accounts',
    before: accounts,
    write: (target) => ({
      op: 'update',
      filter: where(target, { field: 'id', op: 'eq', value: 1 }),
      set: row({}),
      inc: row({ money: 5n }),
    }),
    answer: '{"affected":1}',
    after: [{ money: 15 }, { money: null }, { money: 30 }],
  },
  'an inc of many rows': {
    table: 'accounts',
    before: accounts,
    write: () => ({ op: 'update', filter: null, set: row({}), inc: row({ money: 5n }) }),
    answer: '{"affected":3}',
    after: [{ money: 15 }, { money: 5 }, { money: 35 }],
  },
  'an upsert of a row that is there': {
    table: 'accounts',
    before: accounts,
    write: () => ({ op: 'upsert', row: row({ id: 2n, money: 8n }), keys: ['id'], update: ['money'] }),
    answer: '{"affected":1}',
    after: [{ money: 10 }, { money: 8 }, { money: 30 }],
  },
  'an upsert of a row that is not there': {
    table: 'accounts',
    before: accounts,
    write: () => ({ op: 'upsert', row: row({ id: 4n, money: 8n }), keys: ['id'], update: ['money'] }),
    answer: '{"affected":1}',
    after: [{ money: 10 }, { money: null }, { money: 30 }, { money: 8 }],
  },
  'an upsert that adds to a row that is there': {
    table: 'accounts',
    before: accounts,
    write: () => ({ ...adding, row: row({ id: 1n, money: 5n }) }),
    answer: '{"affected":1}',
    after: [{ money: 15 }, { money: null }, { money: 30 }],
  },
  'an upsert that adds to nothing': {
    table: 'accounts',
    before: accounts,
    write: () => ({ ...adding, row: row({ id: 4n, money: 5n }) }),
    answer: '{"affected":1}',
    after: [{ money: 10 }, { money: null }, { money: 30 }, { money: 5 }],
  },
  'an upsert that inserts if missing, of a row that is there': {
    table: 'accounts',
    before: accounts,
    write: () => ({ ...inserting, row: row({ id: 1n, money: 8n }) }),
    answer: '{"affected":0}',
    after: [{ money: 10 }, { money: null }, { money: 30 }],
  },
  'an upsert that inserts if missing': {
    table: 'accounts',
    before: accounts,
    write: () => ({ ...inserting, row: row({ id: 4n, money: 8n }) }),
    answer: '{"affected":1}',
    after: [{ money: 10 }, { money: null }, { money: 30 }, { money: 8 }],
  },
  'a delete': {
    table: 'accounts',
    before: accounts,
    write: (target) => ({ op: 'delete', filter: where(target, { field: 'money', op: 'isNull', value: false }) }),
    answer: '{"affected":2}',
    after: [{ money: null }],
  },
};

/** Tables of its own, so that cases run side by side. */
async function targetOf({ table }: Case, namespace: string): Promise<TableTarget> {
  const target = (await declare(survivor, namespace, TABLES))[table];
  if (target === undefined) throw new Error(`no table ${table}`);
  return target;
}

async function start({ table, before }: Case, target: TableTarget): Promise<void> {
  await world.collection(`${target.namespace}__${table}`).deleteMany({});
  if (before.length === 0) return;
  await survivor.write(target, { op: 'insert', rows: before.map(row) }, null, within(10_000));
}

async function outcome(
  engine: Engine,
  target: TableTarget,
  { write }: Case,
  key: IdempotencySlot,
  ms: number,
): Promise<string> {
  try {
    return await engine.write(target, write(target), key, within(ms));
  } catch (error) {
    const { code, message } = error as ApiError;
    return `${code} ${message}`;
  }
}

/** Collections that a sidecar reads by the clock, and not for a write. */
const LEASE_COLLECTIONS = ['_schemas', '_sidecars'];

/** False where the write came through before the cut. */
async function crashAfter(commands: number, tested: Case, target: TableTarget, key: IdempotencySlot): Promise<boolean> {
  const cutter = await Cutter.open(world.url, LEASE_COLLECTIONS);
  const victim = await world.engine({ url: cutter.url });
  await victim.count(target, null, within(10_000));
  // Resolves with the cut, which may not come.
  cutter.cutAfter(commands);
  const answer = await outcome(victim, target, tested, key, 1500);
  await Promise.all([cutter.close(), victim.close()]);
  return !isAnswer(answer, tested.answer);
}

function isAnswer(answer: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? answer === expected : expected.test(answer);
}

describe.concurrent('a sidecar dies before a command of', () => {
  it.each(Object.entries(CASES).map(([name, tested], i) => ({ name, tested, namespace: `case${i}` })))(
    '$name',
    { timeout: 90_000 },
    async ({ tested, namespace }) => {
      const target = await targetOf(tested, namespace);
      let crashes = 0;
      for (let commands = 0, hasCrashed = true; hasCrashed; commands++) {
        await start(tested, target);
        const key = slot(randomUUID());
        hasCrashed = await crashAfter(commands, tested, target, key);
        if (hasCrashed) crashes += 1;
        // The lease of the dead sidecar is over.
        await world.collection('_idempotency').updateOne({ key: key.key }, { $set: { until: 0 } });
        const answer = await outcome(survivor, target, tested, key, 10_000);
        const after = `after ${commands} commands`;
        expect(isAnswer(answer, tested.answer), `${after}: ${answer}`).toBe(true);
        const found = (await rowsOf(survivor, target)) as object[];
        const expected = tested.after.map((each) => expect.objectContaining(each));
        // Only without key does the order tell which row came first.
        expect(found, after).toEqual(tested.table === 'lines' ? expected : expect.arrayContaining(expected));
        expect(found).toHaveLength(tested.after.length);
        expect(await outcome(survivor, target, tested, key, 10_000)).toBe(answer);
        expect(await rowsOf(survivor, target)).toEqual(found);
      }
      expect(crashes).toBeGreaterThan(2);
    },
  );
});
