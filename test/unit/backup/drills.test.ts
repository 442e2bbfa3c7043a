import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { DrillBook, type DrillResult, isDrillOverdue, nextDrill } from '#sidecar/backup/remote/drill-book.ts';
import { ScheduledDrills } from '#sidecar/backup/scheduled-drills.ts';
import type { BackupConfig } from '#sidecar/config/backup.ts';
import { testFolder } from '#support/test-folder.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 15);

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

function result(at: number, ok: boolean): DrillResult {
  const error = ok ? null : 'damaged';
  return { at: new Date(at).toISOString(), ok, kind: 'opened', backup: 'b', seconds: 1, rows: ok ? 1 : null, error };
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
  const start = () =>
    ScheduledDrills.start({
      backup: { drill: { everyDays: 7 }, remote: { type: 'folder' } } as unknown as BackupConfig,
      ...{ dataFolder: folder, configFile: join(folder, 'sidecar.json'), program },
      log: (level, message, fields) => lines.push({ level, message, ...fields }),
    });
  const nothingSent = start();
  await nothingSent?.stop();
  expect(lines).toEqual([]);
  new DrillBook(folder).write(result(Date.now() - 20 * DAY_MS, true));
  const drills = start();
  await expect
    .poll(() => lines)
    .toEqual([
      {
        level: 'error',
        message: expect.stringContaining('twice backup.drill.everyDays'),
        lastSuccessAt: expect.any(String),
      },
      {
        level: 'error',
        message: expect.stringMatching(/^a drill of the backups has failed/),
        cause: 'damaged',
        backup: 'b',
      },
    ]);
  await drills?.stop();
});
