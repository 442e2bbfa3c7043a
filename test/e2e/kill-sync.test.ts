import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

/**
 * `kill -9` in the middle of a sync, again and again: the database holds the schema from before or the one after it,
 * never anything between, no row is lost, and the next sync reaches its target.
 */

const ROWS = 15_000;
const KILLS = 6;

let folder: string;
let sidecar: SidecarProcess;

beforeAll(async () => {
  folder = testFolder();
  sidecar = await spawnSidecar(folder);
});

afterAll(async () => {
  await sidecar.kill();
});

const ID = { name: 'id', type: 'int64', autoIncrement: true };
const INDEX = { name: 'by_c', columns: ['c'], unique: true };
/** Each is far from the other: a rename, a rebuild with conversion, indexes, a column and a table to quarantine. */
const SCHEMAS = [
  [
    {
      name: 'a',
      renamedFrom: 'b',
      primaryKey: ['id'],
      columns: [ID, { name: 'c', type: 'int64' }, { name: 'x', type: 'string', default: '' }],
      indexes: [INDEX],
    },
    { name: 'left', columns: [{ name: 'c', type: 'int32' }] },
  ],
  [
    {
      name: 'b',
      renamedFrom: 'a',
      primaryKey: ['id'],
      columns: [
        ID,
        { name: 'c', type: 'decimal', precision: 30, scale: 5 },
        { name: 'y', type: 'uuid', default: 'random', unique: true },
      ],
      indexes: [INDEX, { name: 'by_y', columns: ['y', 'c'] }],
    },
    { name: 'right', columns: [{ name: 'c', type: 'int32' }] },
  ],
] as const;
const NAMES = ['a', 'b'] as const;

function sync(which: 0 | 1) {
  return sidecar.client.call('schema.sync', { namespace: 'game', schema: { tables: SCHEMAS[which] } });
}

async function storedWhich(): Promise<0 | 1> {
  const { result } = await sidecar.client.call('schema.describe', { namespace: 'game' });
  const names = (result.schema as { tables: { name: string }[] }).tables.map((table) => table.name);
  expect([
    ['a', 'left'],
    ['b', 'right'],
  ]).toContainEqual(names);
  return names[0] === 'a' ? 0 : 1;
}

/** All rows are there, in the table of the stored schema, each value once. */
async function checkRows(which: 0 | 1): Promise<void> {
  const table = NAMES[which];
  const { client } = sidecar;
  expect((await client.must<{ count: number }>('count', { namespace: 'game', table })).count).toBe(ROWS);
  const ends = [
    { dir: 'asc', c: 0 },
    { dir: 'desc', c: ROWS - 1 },
  ];
  for (const { dir, c } of ends) {
    const sort = [{ field: 'c', dir }];
    const { rows } = await client.must<{ rows: object[] }>('find', { namespace: 'game', table, sort, limit: 1 });
    expect(rows).toMatchObject([{ id: c + 1, c }]);
  }
}

it('a killed sync leaves one schema or the other, and the next one reaches its target', async () => {
  expect((await sync(0)).status).toBe(200);
  for (let from = 0; from < ROWS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ c: from + i }));
    await sidecar.client.must('insert', { namespace: 'game', table: 'a', rows });
  }
  const whole = performance.now();
  expect((await sync(1)).status).toBe(200);
  const syncMs = performance.now() - whole;
  let which: 0 | 1 = 1;
  let cutOff = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const target: 0 | 1 = which === 0 ? 1 : 0;
    // From the very beginning of a sync to just past its end.
    const moment = delay((syncMs * 1.2 * kill) / (KILLS - 1));
    const answered = sync(target).then(
      (answer) => answer.status,
      () => 'cut off',
    );
    await moment;
    await sidecar.kill('SIGKILL');
    const status = await answered;
    sidecar = await spawnSidecar(folder);
    const stored = await storedWhich();
    await checkRows(stored);
    // An answered sync is stored.
    if (status === 200) expect(stored).toBe(target);
    else cutOff += 1;
    expect(await sync(target)).toMatchObject({ status: 200 });
    expect(await storedWhich()).toBe(target);
    await checkRows(target);
    which = target;
  }
  expect(cutOff).toBeGreaterThan(1);
}, 120_000);

it('lists, restores and purges from the command line beside the running sidecar', async () => {
  const run = async (...args: string[]) => {
    const all = [SIDECAR_MAIN, 'quarantine', ...args, '--config', join(folder, 'sidecar.json')];
    return promisify(execFile)(process.execPath, all, { cwd: new URL('../..', import.meta.url) });
  };
  const { client } = sidecar;
  await client.must('schema.sync', {
    namespace: 'cli',
    schema: { tables: [{ name: 't', columns: [{ name: 'c', type: 'bool' }] }] },
  });
  await client.must('insert', { namespace: 'cli', table: 't', rows: [{ c: true }] });
  await client.must('schema.sync', { namespace: 'cli', schema: { tables: [] } });
  const { stdout } = await run('list', '--json');
  const objects = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; namespace: string });
  const own = objects.find((object) => object.namespace === 'cli');
  expect((await run('restore', String(own?.id))).stdout).toBe('restored table cli.t with 1 row\n');
  expect(await client.must('find', { namespace: 'cli', table: 't' })).toMatchObject({ rows: [{ c: true }] });
  await expect(run('purge', String(own?.id))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`nothing in quarantine has the ID ${own?.id}`),
  });
  await expect(run('purge', 'x')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('x is not an ID') });
});
