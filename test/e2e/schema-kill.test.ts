import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { Quarantine, tablesFirst } from '#sidecar/schema/quarantine.ts';
import { PATIENT } from '#support/config-folder.ts';
import { withPreload } from '#support/preloads.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';
import { spawnSidecar } from '#support/sidecar-process.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { testFolder } from '../support/test-folder.ts';

/**
 * SIGKILL at chosen statements of SQLite's schema change, and of a restore from quarantine: the database holds the old
 * state or the new one, whole, and the next sync works. `kill-sync.test.ts` does the same at moments of the clock.
 */

const ROWS = 40;
const NEVER = 1_000_000;
/** Kills of each kind; the statements around the commit are always among them. */
const KILLS = 14;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const ID = { name: 'id', type: 'int64', autoIncrement: true };
const OLD = [
  {
    name: 'a',
    primaryKey: ['id'],
    columns: [ID, { name: 'c', type: 'int64' }, { name: 'x', type: 'string', default: '' }],
    indexes: [{ name: 'by_c', columns: ['c'], unique: true }],
  },
  { name: 'left', columns: [{ name: 'c', type: 'int32' }] },
];
/** A rename, a rebuild that converts, new and lost indexes, a column and a table to quarantine, a new table. */
const NEW = [
  {
    name: 'b',
    renamedFrom: 'a',
    primaryKey: ['id'],
    columns: [
      ID,
      { name: 'c', type: 'decimal', precision: 30, scale: 5 },
      { name: 'y', type: 'uuid', default: 'random', unique: true },
    ],
    indexes: [{ name: 'by_y', columns: ['y', 'c'] }],
  },
  { name: 'right', columns: [{ name: 'c', type: 'int32' }] },
];
/** From `OLD`: what is then restored, a required column and a table. */
const KEPT = [{ ...OLD[0], columns: [ID, { name: 'c', type: 'int64' }] }];

/** The lock of a sync that was killed is over by then. */
const now = () => Date.now() + 60_000;
/** A lease whose holder was killed is dead after half a second in place of ten. */
const monotonicNow = () => 20 * performance.now();

/** A database at rest with the schema `OLD`; and the same with `KEPT`. */
let before: string;
let kept: string;

function folderOf(template?: string): string {
  const folder = testFolder();
  if (template !== undefined) cpSync(template, folder, { recursive: true });
  return folder;
}

const sync = (sidecar: Pick<TestSidecar, 'client'>, tables: unknown) =>
  sidecar.client.call('schema.sync', { namespace: 'game', schema: { tables } });

async function within(folder: string, work: (sidecar: TestSidecar) => Promise<unknown>): Promise<void> {
  const sidecar = await startSidecar({ folder, config: PATIENT, now, monotonicNow });
  try {
    await work(sidecar);
  } finally {
    await sidecar.stop();
  }
}

async function columnsOf({ client }: TestSidecar): Promise<Record<string, string[]>> {
  const { schema } = await client.must<{ schema: { tables: { name: string; columns: { name: string }[] }[] } }>(
    'schema.describe',
    { namespace: 'game' },
  );
  return Object.fromEntries(schema.tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
}

async function rowsOf({ client }: TestSidecar, table: string): Promise<Record<string, unknown>[]> {
  const { rows } = await client.must<{ rows: Record<string, unknown>[] }>('find', { namespace: 'game', table });
  return rows;
}

/** The moments of a whole run, as `kill-at-statement.ts` lists them. */
function momentsOf(folder: string): string[] {
  return readFileSync(join(folder, 'kill.seen'), 'utf8').trim().split('\n');
}

/** Spread evenly, with those around the commit of the change. The numbers begin at 1. */
function chosen(moments: readonly string[]): number[] {
  const commit = moments.lastIndexOf('before COMMIT') + 1;
  expect(commit).toBeGreaterThan(0);
  const spread = Array.from({ length: KILLS }, (_, i) => 1 + Math.floor((i * moments.length) / KILLS));
  return [...new Set([...spread, commit, commit + 1])].sort((a, b) => a - b);
}

const environmentOf = (folder: string) => ({
  NODE_OPTIONS: withPreload('kill-at-statement'),
  NODE_NO_WARNINGS: '1',
  KILL_FILE: join(folder, 'kill'),
});

/** Resolves with the status of the answer; null: the process was killed before it came. */
async function syncAndDie(folder: string, moment: number): Promise<number | null> {
  const sidecar = await spawnSidecar(folder, PATIENT, environmentOf(folder));
  try {
    writeFileSync(join(folder, 'kill'), `${moment}`);
    return await sync(sidecar, NEW).then(
      ({ status }) => status,
      () => null,
    );
  } finally {
    await sidecar.kill();
  }
}

/** Everything in quarantine by the command line. Resolves with the exit code; null: it was killed. */
async function restoreAndDie(folder: string, moment: number): Promise<number | null> {
  writeFileSync(join(folder, 'kill'), `${moment}`);
  const args = [SIDECAR_MAIN, 'quarantine', 'restore', '--config', join(folder, 'sidecar.json')];
  const env = { ...process.env, ...environmentOf(folder) };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

async function restoreAll(folder: string): Promise<void> {
  const log = () => {};
  const file = join(folder, 'data/database.sqlite');
  const engine = await openEngine({ provider: 'sqlite', file, poolSize: 2 }, { log, now, monotonicNow });
  try {
    const quarantine = new Quarantine({ engine, now, log });
    // The first call starts a thread, and a busy machine takes longer for it than a command waits.
    const objects = await vi.waitFor(() => quarantine.list(), { timeout: 60_000 });
    for (const object of tablesFirst(objects)) await quarantine.restore(object);
  } finally {
    await engine.close();
  }
}

beforeAll(async () => {
  before = folderOf();
  await within(before, async (sidecar) => {
    expect(await sync(sidecar, OLD)).toMatchObject({ status: 200 });
    const rows = Array.from({ length: ROWS }, (_, c) => ({ c, x: `x${c}` }));
    await sidecar.client.must('insert', { namespace: 'game', table: 'a', rows });
    await sidecar.client.must('insert', { namespace: 'game', table: 'left', rows: [{ c: 1 }, { c: 2 }] });
  });
  kept = folderOf(before);
  await within(kept, async (sidecar) => expect(await sync(sidecar, KEPT)).toMatchObject({ status: 200 }));
});

const OLD_COLUMNS = { a: ['id', 'c', 'x'], left: ['c'] };
const NEW_COLUMNS = { b: ['id', 'c', 'y'], right: ['c'] };

async function checkOldRows(sidecar: TestSidecar): Promise<void> {
  expect(await rowsOf(sidecar, 'a')).toEqual(Array.from({ length: ROWS }, (_, c) => ({ id: c + 1, c, x: `x${c}` })));
  expect(await rowsOf(sidecar, 'left')).toEqual([{ c: 1 }, { c: 2 }]);
}

async function checkNewRows(sidecar: TestSidecar): Promise<void> {
  const rows = await rowsOf(sidecar, 'b');
  expect(rows).toMatchObject(Array.from({ length: ROWS }, (_, c) => ({ id: c + 1, c })));
  expect(new Set(rows.map(({ y }) => y)).size).toBe(ROWS);
  expect(await rowsOf(sidecar, 'right')).toEqual([]);
}

describe('a kill inside a schema change', () => {
  it('leaves the old schema or the new one, whole, and the next sync reaches its target', async () => {
    const whole = folderOf(before);
    expect(await syncAndDie(whole, NEVER)).toBe(200);
    const moments = momentsOf(whole);
    const found: string[] = [];
    for (const moment of chosen(moments)) {
      const folder = folderOf(before);
      const status = await syncAndDie(folder, moment);
      expect(momentsOf(folder)).toHaveLength(moment);
      await within(folder, async (sidecar) => {
        const columns = await columnsOf(sidecar);
        const isNew = 'b' in columns;
        found.push(isNew ? 'new' : 'old');
        expect(columns).toEqual(isNew ? NEW_COLUMNS : OLD_COLUMNS);
        await (isNew ? checkNewRows : checkOldRows)(sidecar);
        if (status === 200) expect(isNew).toBe(true);
        expect(await sync(sidecar, NEW)).toMatchObject({ status: 200 });
        expect(await columnsOf(sidecar)).toEqual(NEW_COLUMNS);
        await checkNewRows(sidecar);
      });
    }
    expect(new Set(found)).toEqual(new Set(['old', 'new']));
    // No old state after a new one.
    expect(found).toEqual([...found].sort().reverse());
  }, 600_000);
});

describe('a kill inside a restore from quarantine', () => {
  const TABLE_BACK = { left: ['c'] };

  it('leaves each object where it was or restored, whole, and the next restore and sync work', async () => {
    const whole = folderOf(kept);
    expect(await restoreAndDie(whole, NEVER)).toBe(0);
    const moments = momentsOf(whole);
    const found = new Set<string>();
    for (const moment of chosen(moments)) {
      const folder = folderOf(kept);
      expect(await restoreAndDie(folder, moment)).toBeNull();
      await within(folder, async (sidecar) => {
        const columns = await columnsOf(sidecar);
        const isColumnBack = columns.a?.includes('x') === true;
        found.add(`${'left' in columns ? 'table' : 'no table'}, ${isColumnBack ? 'column' : 'no column'}`);
        expect(columns).toEqual({
          a: isColumnBack ? ['id', 'c', 'x'] : ['id', 'c'],
          ...('left' in columns && TABLE_BACK),
        });
        const rows = Array.from({ length: ROWS }, (_, c) => ({ id: c + 1, c, ...(isColumnBack && { x: `x${c}` }) }));
        expect(await rowsOf(sidecar, 'a')).toEqual(rows);
        if ('left' in columns) expect(await rowsOf(sidecar, 'left')).toEqual([{ c: 1 }, { c: 2 }]);
      });
      await restoreAll(folder);
      await within(folder, async (sidecar) => {
        expect(await columnsOf(sidecar)).toEqual(OLD_COLUMNS);
        await checkOldRows(sidecar);
        expect(await sync(sidecar, NEW)).toMatchObject({ status: 200 });
        await checkNewRows(sidecar);
      });
    }
    expect(found).toEqual(new Set(['no table, no column', 'table, no column', 'table, column']));
  }, 600_000);
});
