import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { outcome } from './data-world.ts';

/**
 * `kill -9` while derived columns are being filled, again and again, with another sidecar writing their source all the
 * time: no row keeps a value that is not its own, nobody sees a column that is not full, and the next sync reaches its target.
 */

const ROWS = 1500;
const KILLS = 2;
const NAMESPACE = 'game';

/** Patient, but not so long that on the document database others wait minutes for the one that was killed. */
const CONFIG = { database: { statementTimeoutMs: 10_000 }, api: { requestTimeoutMs: 20_000 } };

let database: TestDatabase;
let folder: string;
let killed: SidecarProcess;
let writer: TestSidecar;

beforeAll(async () => {
  database = await newDatabase();
  folder = testFolder();
  killed = await spawnSidecar(folder, { ...CONFIG, database: { ...database.settings, ...CONFIG.database } });
  writer = await startSidecar({ database, config: CONFIG });
});

afterAll(async () => {
  await killed.kill();
  await writer.stop();
  await database.drop();
});

const table = (round: number) => ({
  name: 'people',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'name', type: 'string', length: 40 },
    { name: 'data', type: 'json', nullable: true },
    ...(round === 0
      ? []
      : [
          { name: 'search', type: 'string', length: 10 + round, derived: { from: 'name', fold: true } },
          { name: 'level', type: 'int32', derived: { from: 'data', path: ['levels', round] } },
        ]),
  ],
  indexes: round === 0 ? [] : [{ name: 'by_search', columns: ['search', 'id'] }],
});

const sync = (round: number) =>
  killed.client.call('schema.sync', { namespace: NAMESPACE, schema: { tables: [table(round)] } });
const call = (operation: string, more: object) =>
  writer.client.call(operation, { namespace: NAMESPACE, table: 'people', ...more });

/** Written again: an oracle imports nothing of what it judges. */
const folded = (name: string) => name.replaceAll('É', 'e').toLowerCase().trim();

async function checkRows(round: number): Promise<void> {
  const wrong: unknown[] = [];
  let count = 0;
  for (let from = 0; from < ROWS; from += 1000) {
    const filter = {
      and: [
        { field: 'id', op: 'gte', value: from },
        { field: 'id', op: 'lt', value: from + 1000 },
      ],
    };
    const { rows } = (await call('find', { filter })).result as { rows: Row[] };
    count += rows.length;
    for (const row of rows) {
      const search = folded(row.name).slice(0, 10 + round);
      if (row.search !== search || row.level !== (row.data.levels[round] ?? null)) wrong.push(row);
    }
  }
  expect(wrong).toEqual([]);
  expect(count).toBe(ROWS);
}

interface Row {
  readonly name: string;
  readonly data: { readonly levels: readonly number[] };
  readonly search: string;
  readonly level: number | null;
}

/** Changes rows here and there until it is told to stop; refusals while a sync begins or ends are no matter. */
function keepWriting(): () => Promise<number> {
  let isStopped = false;
  let written = 0;
  const run = async (): Promise<void> => {
    for (let i = 0; !isStopped; i += 1) {
      const set = { name: ` ÉVE ${i}`, data: { levels: [i, i + 1, i + 2, i + 3] } };
      const filter = { field: 'id', op: 'in', value: [(i * 37) % ROWS, (i * 101) % ROWS] };
      if ((await call('update', { filter, set })).ok) written += 1;
    }
  };
  const running = run();
  return async () => {
    isStopped = true;
    await running;
    return written;
  };
}

it('a killed filling leaves nothing wrong, and the next sync ends it', async () => {
  expect((await sync(0)).status).toBe(200);
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => ({
      id: from + i,
      name: `Ann É ${from + i}`,
      data: { levels: [from + i, i, 7] },
    }));
    await killed.client.must('insert', { namespace: NAMESPACE, table: 'people', rows });
  }
  let cutOff = 0;
  let fillMs = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const stop = keepWriting();
    const answered = sync(round).then(
      ({ status }) => status,
      () => 'cut off',
    );
    const isFilling = () => killed.log.some(({ msg }) => String(msg).startsWith('derived columns are being filled'));
    while (!isFilling()) await delay(5);
    // At its very beginning, and later; how long it takes was seen by the rounds before.
    await delay((fillMs * (round - 1)) / (2 * KILLS));
    await killed.kill('SIGKILL');
    if ((await answered) === 'cut off') cutOff += 1;
    const seen = await call('find', { fields: ['search'], limit: 1 });
    expect(['400 unknown_column', '409 sync_in_progress', '200']).toContain(outcome(seen));
    killed = await spawnSidecar(folder, { ...CONFIG, database: { ...database.settings, ...CONFIG.database } });
    const startedAt = performance.now();
    const again = await sync(round);
    fillMs = performance.now() - startedAt;
    expect(again).toMatchObject({ status: 200 });
    expect(await stop()).toBeGreaterThan(0);
    await checkRows(round);
  }
  expect(cutOff).toBeGreaterThan(0);
}, 300_000);
