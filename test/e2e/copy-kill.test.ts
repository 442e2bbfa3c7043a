import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { TableTarget } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { startSidecar, writeConfig } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';

/**
 * The command, killed in the middle: nobody sees a half of a namespace, the source is writable again, and the same
 * command goes on where the other one ended.
 */

const ROWS = 24_000;
const folder = testFolder();
const from = writeConfig(join(folder, 'from'));
const to = writeConfig(join(folder, 'to'));
const bounds = () => ({ deadline: performance.now() + 20_000 });
const open = (place: string): Promise<Engine> =>
  openEngine(
    { provider: 'sqlite', file: join(folder, place, 'data', 'database.sqlite'), poolSize: 2 },
    { log: () => undefined, now: Date.now },
  );

const running: ChildProcess[] = [];

beforeAll(async () => {
  const source = await startSidecar({ folder: join(folder, 'from') });
  await source.stop();
  const engine = await open('from');
  const { schema } = parseSchema({
    tables: [
      {
        name: 'big',
        primaryKey: ['id'],
        columns: [
          { name: 'id', type: 'int64', autoIncrement: true },
          { name: 'text', type: 'string' },
        ],
      },
      { name: 'later', columns: [{ name: 'n', type: 'int32' }] },
    ],
  });
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace: 'game', from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, bounds());
  const target = await tableOf(engine, 'big');
  for (let first = 0; first < ROWS; first += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => new Map([['text', `row ${first + i}`.padEnd(80, '.')]]));
    await engine.write(target, { op: 'insert', rows }, null, bounds());
  }
  const numbers = Array.from({ length: 100 }, (_, i) => new Map([['n', i]]));
  await engine.write(await tableOf(engine, 'later'), { op: 'insert', rows: numbers }, null, bounds());
  await engine.close();
});

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

async function tableOf(engine: Engine, name: string): Promise<TableTarget> {
  const { namespace, revision, schema } = (await engine.schemas.readSchema('game', bounds())) as StoredSchema;
  const table = schema.tables.find((candidate) => candidate.name === name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return { namespace, revision, table };
}

function copy(...more: string[]) {
  const child = spawn(process.execPath, [SIDECAR_MAIN, 'copy', '--from', from, '--to', to, ...more], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    out += chunk;
  });
  const ended = new Promise<{ code: number | null; out: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out })),
  );
  return { child, ended };
}

/** Ends a copy once the target holds so many rows. */
async function endAfter(rows: number, signal: NodeJS.Signals) {
  const { child, ended } = copy();
  const target = await open('to');
  try {
    await vi.waitFor(
      async () => {
        const count = await target.count(await tableOf(target, 'big'), null, bounds());
        expect(count).toBeGreaterThan(rows);
      },
      // The lease of a copy that was killed is dead after ten seconds.
      { timeout: 60_000, interval: 5 },
    );
    child.kill(signal);
    const { code, out } = await ended;
    expect(await target.count(await tableOf(target, 'big'), null, bounds())).toBeLessThan(ROWS);
    return { code, out };
  } finally {
    await target.close();
  }
}

it('goes on after kill -9 and after a signal, and ends with an equal copy', { timeout: 180_000 }, async () => {
  await endAfter(2000, 'SIGKILL');

  const half = await startSidecar({ folder: join(folder, 'to') });
  const find = { namespace: 'game', table: 'later' };
  expect(await half.client.call('find', find)).toMatchObject({ status: 409, code: 'sync_in_progress' });
  await half.stop();

  const source = await startSidecar({ folder: join(folder, 'from'), now: () => Date.now() + 31_000 });
  const row = { namespace: 'game', table: 'big', rows: [{ text: 'written between the runs' }] };
  expect(await source.client.call('insert', row)).toMatchObject({ status: 200 });
  await source.stop();

  const told = await endAfter(12_000, 'SIGTERM');
  expect(told.code).toBe(1);
  expect(told.out).toContain('game: goes on with a copy that was cut off');
  expect(told.out).toContain('ended by SIGTERM; the same command goes on where this one stopped');

  const last = await copy().ended;
  expect(last.code).toBe(0);
  expect(last.out).toMatch(/game\.big +24,001 +[0-9a-f]{16} +equal/);
  expect(last.out).toMatch(/game\.later +100 +[0-9a-f]{16} +equal/);

  const moved = await startSidecar({ folder: join(folder, 'to') });
  expect(await moved.client.must('count', { namespace: 'game', table: 'big' })).toEqual({ count: ROWS + 1 });
  await moved.stop();
  expect(await copy('--compare').ended).toMatchObject({ code: 0 });
});

it('tells what is wrong with its arguments in one line', async () => {
  const { code, out } = await copy('--namespace', 'nobody').ended;
  expect({ code, out: out.split('\n').at(-2) }).toEqual({
    code: 1,
    out: 'sidecar: the source has no namespace nobody',
  });
  const same = await copy('--to', from).ended;
  expect(same.code).toBe(1);
  expect(same.out).toMatch(/^sidecar: --from and --to name the same database, sqlite .*\n$/);
});
