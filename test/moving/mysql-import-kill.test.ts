import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { runCopy } from '#sidecar/commands/copy.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import { copyIo } from '../support/copy-io.ts';
import { startSidecar, writeConfig } from '../support/sidecar.ts';
import { testFolder } from '../support/test-folder.ts';
import { type GameDatabase, gameDatabase } from './game-database.ts';

const ROWS = 20_000;
let game: GameDatabase;

beforeAll(async () => {
  game = await gameDatabase();
  await game.run(
    'CREATE TABLE jobs (name VARCHAR(50) PRIMARY KEY)',
    "INSERT INTO jobs VALUES ('police')",
    'CREATE TABLE kills (id INT AUTO_INCREMENT PRIMARY KEY, killer VARCHAR(60), at DATETIME)',
    `INSERT INTO kills (killer, at) SELECT CONCAT('player ', seq), '2024-01-01 00:00:00' FROM seq_1_to_${ROWS}`,
  );
});

afterAll(async () => {
  await game.drop();
});

function place(): { readonly folder: string; readonly config: string } {
  const folder = testFolder();
  return { folder, config: writeConfig(folder) };
}

function importInto({ folder, config }: ReturnType<typeof place>, tables: string) {
  const args = ['--url-env', 'GAME_URL', '--namespace', 'game', '--tables', tables, '--config', config];
  const child = spawn(process.execPath, [SIDECAR_MAIN, 'import', ...args, '--out', join(folder, 'proposal')], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, NODE_NO_WARNINGS: '1', GAME_URL: game.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      out += chunk;
    });
  }
  const ended = new Promise<{ code: number | null; out: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out })),
  );
  return { child, ended };
}

const bounds = () => ({ deadline: performance.now() + 10_000 });

/** Rows that the target holds now. */
async function rowsThere(engine: Engine): Promise<number> {
  const stored = await engine.schemas.readSchema('game', bounds());
  const table = stored?.schema.tables.find(({ name }) => name === 'kills');
  if (stored === null || table === undefined) return 0;
  return engine.count({ namespace: 'game', revision: stored.revision, table }, null, bounds());
}

/** An import of `kills` that ends by kill -9 when it has written some of them. */
async function killedImport(there: ReturnType<typeof place>): Promise<void> {
  const { folder } = there;
  const settings = { provider: 'sqlite', file: join(folder, 'data', 'database.sqlite'), poolSize: 2 } as const;
  const target = await openEngine(settings, { log: () => undefined, now: Date.now });
  const first = importInto(there, 'kills');
  await vi.waitFor(async () => expect(await rowsThere(target)).toBeGreaterThan(0), { timeout: 60_000, interval: 10 });
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await rowsThere(target)).toBeLessThan(ROWS);
  await target.close();
}

it('is closed after kill -9, and the same command begins anew', { timeout: 120_000 }, async () => {
  const there = place();
  const { folder } = there;
  await killedImport(there);
  const half = await startSidecar({ folder });
  const count = { namespace: 'game', table: 'kills' };
  expect(await half.client.call('count', count)).toMatchObject({ status: 409, code: 'sync_in_progress' });
  await half.stop();

  const { code, out } = await importInto(there, 'kills').ended;
  expect(out).toContain('game: deletes what an import that was cut off has left');
  expect(code).toBe(0);
  const whole = await startSidecar({ folder });
  expect(await whole.client.must('count', count)).toEqual({ count: ROWS });
  await whole.stop();
});

it('is given up on request, and tables that were there before it are never touched', { timeout: 120_000 }, async () => {
  const there = place();
  expect((await importInto(there, 'jobs').ended).code).toBe(0);
  await killedImport(there);

  const refused = await importInto(there, 'jobs').ended;
  expect(refused.out).toContain('namespace game has rows in jobs already; nothing was changed');
  expect(refused.code).toBe(1);
  expect(await runCopy(['--to', there.config, '--namespace', 'game', '--discard'], copyIo().io)).toBe(true);
  const open = await startSidecar({ folder: there.folder });
  expect(await open.client.must('count', { namespace: 'game', table: 'jobs' })).toEqual({ count: 1 });
  expect(await open.client.call('count', { namespace: 'game', table: 'kills' })).toMatchObject({ status: 404 });
  await open.stop();
});
