import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { itDiffers } from './data-world.ts';

const ROUNDS = 3;
const WRITERS = 8;
const MIN_ANSWERED = 60;

const folder = testFolder();
const answered: number[] = [];
let last = 0;
let database: TestDatabase;
/** After the last kill. */
let sidecar: TestSidecar;
let keptFirst: Set<number>;

const insertOf = (n: number) => ({
  namespace: 'kept',
  table: 'notes',
  rows: [{ n }, { n: -n }],
  idempotencyKey: `k${n}`,
});

/** Inserts, one after another, until the process is gone. */
async function insertUntilGone(process: SidecarProcess): Promise<void> {
  try {
    for (;;) {
      last += 1;
      const n = last;
      const answer = await process.client.call('insert', insertOf(n));
      if (answer.ok) answered.push(n);
    }
  } catch {
    // The process was killed in the middle of this call; whether it was done is unknown, and not asked.
  }
}

async function writeAndKill(): Promise<void> {
  const process = await spawnSidecar(folder, { database: database.settings });
  const tables = [{ name: 'notes', primaryKey: ['n'], columns: [{ name: 'n', type: 'int32' }] }];
  await process.client.must('schema.sync', { namespace: 'kept', schema: { tables } });
  const before = answered.length;
  const writers = Array.from({ length: WRITERS }, () => insertUntilGone(process));
  while (answered.length < before + MIN_ANSWERED) await new Promise((resolve) => setTimeout(resolve, 5));
  await process.kill('SIGKILL');
  await Promise.all(writers);
}

async function keptNumbers(): Promise<Set<number>> {
  const { rows } = await sidecar.client.must<{ rows: { n: number }[] }>('find', { namespace: 'kept', table: 'notes' });
  return new Set(rows.map((row) => row.n));
}

const halves = (kept: ReadonlySet<number>) => [...kept].filter((n) => !kept.has(-n));

beforeAll(async () => {
  database = await newDatabase();
  for (let round = 0; round < ROUNDS; round++) await writeAndKill();
  sidecar = await startSidecar({ database, config: { limits: { maxRows: 100_000 } } });
  keptFirst = await keptNumbers();
}, 120_000);

afterAll(async () => {
  await sidecar?.stop();
  await database?.drop();
});

it('what was answered is there after kill -9, again and again, and is answered again', async () => {
  expect(answered.filter((n) => !keptFirst.has(n) || !keptFirst.has(-n))).toEqual([]);
  for (const n of answered.slice(-20)) {
    expect(await sidecar.client.must('insert', insertOf(n))).toEqual({ inserted: 2, ids: [n, -n] });
  }
  expect((await keptNumbers()).size).toBe(keptFirst.size);
});

itDiffers('killedInsert', () => sidecar.capabilities, {
  can: async () => expect(halves(keptFirst)).toEqual([]),
  cannot: async () => {
    for (const half of halves(keptFirst)) {
      const n = Math.abs(half);
      expect(await sidecar.client.must('insert', insertOf(n))).toEqual({ inserted: 2, ids: [n, -n] });
    }
    expect(halves(await keptNumbers())).toEqual([]);
  },
});
