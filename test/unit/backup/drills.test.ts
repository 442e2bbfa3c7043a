import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { BackupLease } from '#sidecar/backup/backup-lease.ts';
import { DrillBook, type DrillResult, isDrillOverdue, nextDrill } from '#sidecar/backup/remote/drill-book.ts';
import { ScheduledDrills } from '#sidecar/backup/scheduled-drills.ts';
import type { BackupConfig } from '#sidecar/config/backup.ts';
import { NODE_DISK } from '#sidecar/write-behind/journal/disk.ts';
import { writeConfig } from '#support/config-folder.ts';
import { testFolder } from '#support/test-folder.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 15);

let folder: string;
const engines: Engine[] = [];
beforeEach(() => {
  folder = testFolder();
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

function result(at: number, ok: boolean): DrillResult {
  const error = ok ? null : 'damaged';
  return { at: new Date(at).toISOString(), ok, kind: 'opened', backup: 'b', seconds: 1, rows: ok ? 1 : null, error };
}

/** A sidecar of the database of the folder. */
async function engineOf(instance: string): Promise<Engine> {
  const settings = { provider: 'sqlite', file: join(folder, 'database.sqlite'), poolSize: 2 } as const;
  const engine = await openEngine(settings, { log: () => {}, now: Date.now, instance: () => instance });
  engines.push(engine);
  return engine;
}

function startDrills(dataFolder: string, program: string, engine: Engine, lines: object[]): ScheduledDrills | null {
  return ScheduledDrills.start({
    backup: { drill: { everyDays: 7 }, remote: { type: 'folder' } } as unknown as BackupConfig,
    ...{ dataFolder, configFile: join(folder, 'sidecar.json'), program },
    leases: { drills: new BackupLease(engine, 'backup drill'), backups: new BackupLease(engine) },
    log: (level, message, fields) => lines.push({ level, message, ...fields }),
  });
}

function bookOf(...results: DrillResult[]) {
  const book = new DrillBook(folder);
  for (const one of results) book.write(one);
  return book.read();
}

it('the first is due at once, the next after the interval, and a failed one is tried again soon', () => {
  expect(nextDrill(null, 7, NOW)).toBe(NOW);
  expect(nextDrill(bookOf(result(NOW - DAY_MS, true)), 7, NOW)).toBe(NOW + 6 * DAY_MS);
  expect(nextDrill(bookOf(result(NOW, false)), 7, NOW)).toBe(NOW + DAY_MS / 4);
  // A result of a clock that was ahead.
  expect(nextDrill(bookOf(result(NOW + 900 * DAY_MS, true)), 7, NOW)).toBe(NOW);
});

it('twice the interval without success is too long, counted from the first try if there was none', () => {
  expect(isDrillOverdue(bookOf(result(NOW - 14 * DAY_MS, true), result(NOW, false)), 7, NOW)).toBe(false);
  expect(isDrillOverdue(bookOf(result(NOW - 15 * DAY_MS, true), result(NOW, false)), 7, NOW)).toBe(true);
  folder = testFolder();
  expect(isDrillOverdue(bookOf(result(NOW - 15 * DAY_MS, false), result(NOW, false)), 7, NOW)).toBe(true);
});

it('a drill that was due while the sidecar was down runs after the start, and its end is an error line', async () => {
  const program = join(folder, 'main.mjs');
  const failed = { ...result(Date.now(), false), rows: null };
  writeFileSync(program, `console.log(${JSON.stringify(JSON.stringify({ drill: failed }))}); process.exitCode = 1;`);
  const lines: object[] = [];
  const engine = await engineOf('one');
  const start = () => startDrills(folder, program, engine, lines);
  const nothingSent = start();
  await nothingSent?.stop();
  expect(lines).toEqual([]);
  new DrillBook(folder).write(result(Date.now() - 20 * DAY_MS, true));
  const drills = start();
  await expect
    .poll(() => lines, { timeout: 30_000 })
    .toEqual([
      {
        level: 'error',
        message: expect.stringContaining('twice backup.drill.everyDays'),
        lastSuccessAt: expect.any(String),
      },
      {
        level: 'error',
        event: 'drill-failed',
        message: expect.stringMatching(/^a drill of the backups has failed/),
        cause: 'damaged',
        backup: 'b',
      },
    ]);
  await drills?.stop();
});

it('of several sidecars the one that made the newest backup tries it out, and the others take over its result', async () => {
  const program = join(folder, 'main.mjs');
  const done = { ...result(Date.now(), true), rows: 7 };
  writeFileSync(program, `console.log(${JSON.stringify(JSON.stringify({ drill: done }))});`);
  const lines: object[] = [];
  const [one, two] = [await engineOf('one'), await engineOf('two')];
  const [here, there] = [join(folder, 'one'), join(folder, 'two')];
  for (const data of [here, there]) new DrillBook(data).write(result(Date.now() - 20 * DAY_MS, true));
  await new BackupLease(two).alone(async () => ({}));
  // Not the maker: nothing is tried out, although it is due.
  const first = startDrills(here, program, one, lines);
  const other = { message: 'another sidecar of the database tries out the backups' };
  await expect.poll(() => lines.at(-1), { timeout: 30_000 }).toMatchObject(other);
  await first?.stop();
  const second = startDrills(there, program, two, lines);
  await expect
    .poll(() => lines.at(-1), { timeout: 30_000 })
    .toMatchObject({ message: 'the newest backup was tried out' });
  await second?.stop();
  const again = startDrills(here, program, one, lines);
  await expect.poll(() => new DrillBook(here).read()?.last, { timeout: 30_000 }).toEqual(done);
  await again?.stop();
});

it('a second drill at once ends with a code of its own, and is no failed drill', async () => {
  const config = writeConfig(folder, { backup: { remote: { type: 'folder', path: folder } } });
  const data = join(folder, 'data/drill');
  mkdirSync(data, { recursive: true });
  const lock = await NODE_DISK.lock(data);
  const main = new URL('../../../sidecar/main.ts', import.meta.url).pathname;
  const { status, stderr } = spawnSync(process.execPath, [main, 'backup', 'drill', '--config', config]);
  lock?.release();
  expect([status, stderr.toString()]).toEqual([3, expect.stringContaining('another drill is running')]);
  expect(new DrillBook(join(folder, 'data')).read()).toBeNull();
});
