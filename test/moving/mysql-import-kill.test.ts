import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Engine } from '../../sidecar/engine/engine.ts';
import { openEngine } from '../../sidecar/engine/open.ts';
import { newFolder, startSidecar, writeConfig } from '../support/sidecar.ts';
import { type GameDatabase, gameDatabase } from './game-database.ts';

const ROWS = 20_000;
const folder = newFolder();
const config = writeConfig(folder);
let game: GameDatabase;

beforeAll(async () => {
  game = await gameDatabase();
  await game.run(
    'CREATE TABLE kills (id INT AUTO_INCREMENT PRIMARY KEY, killer VARCHAR(60), at DATETIME)',
    `INSERT INTO kills (killer, at) SELECT CONCAT('player ', seq), '2024-01-01 00:00:00' FROM seq_1_to_${ROWS}`,
  );
});

afterAll(async () => {
  await game.drop();
  rmSync(folder, { recursive: true, force: true });
});

function importKills() {
  const args = ['--url-env', 'GAME_URL', '--namespace', 'game', '--tables', 'kills', '--config', config];
  const child = spawn(process.execPath, ['sidecar/main.ts', 'import', ...args, '--out', join(folder, 'proposal')], {
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
  const stored = await engine.readSchema('game', bounds());
  const table = stored?.schema.tables[0];
  if (stored === null || table === undefined) return 0;
  return engine.count({ namespace: 'game', revision: stored.revision, table }, null, bounds());
}

it('is closed after kill -9, and the same command begins anew', { timeout: 120_000 }, async () => {
  const settings = { provider: 'sqlite', file: join(folder, 'data', 'database.sqlite'), poolSize: 2 } as const;
  const target = await openEngine(settings, { log: () => undefined, now: Date.now });
  const first = importKills();
  await vi.waitFor(async () => expect(await rowsThere(target)).toBeGreaterThan(0), { timeout: 60_000, interval: 10 });
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await rowsThere(target)).toBeLessThan(ROWS);
  await target.close();

  const half = await startSidecar({ folder });
  const count = { namespace: 'game', table: 'kills' };
  expect(await half.client.call('count', count)).toMatchObject({ status: 409, code: 'sync_in_progress' });
  await half.stop();

  const { code, out } = await importKills().ended;
  expect(out).toContain('game: deletes what an import that was cut off has left');
  expect(code).toBe(0);
  const whole = await startSidecar({ folder });
  expect(await whole.client.must('count', count)).toEqual({ count: ROWS });
  await whole.stop();
});
