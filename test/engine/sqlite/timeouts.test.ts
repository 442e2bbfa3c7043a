import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { testFolder } from '#support/test-folder.ts';
import { declareNotes, notesWhere, openSqlite, within } from './world.ts';

const STATEMENT_MS = 300;
/** Part of a second that other work in this process (timers, collector) may use; a statement that goes on uses all of it. */
const IDLE_CPU_MS = 500;
const CROWD = `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
  INSERT INTO game__notes SELECT i, hex(randomblob(100)) FROM n`;
const SLOW = JSON.stringify({
  or: Array.from({ length: 100 }, (_, i) => ({ field: 'body', op: 'contains', value: `nobody ${i}` })),
});

/** Processor time of the whole process, all threads, within a second. */
async function cpuOfOneSecondMs(): Promise<number> {
  const before = process.cpuUsage();
  const startMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / (performance.now() - startMs)) * 1000;
}

/** Rows and parts that are hardest to search: of a megabyte, and with a part that nearly matches at every place. */
const LARGE = `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO game__notes SELECT i, replace(hex(zeroblob(500000)), '0', 'a') FROM n`;
const nearly = (length: number): string =>
  JSON.stringify({
    or: Array.from({ length: 128 }, (_, i) => ({
      ...{ field: 'body', op: 'contains' },
      value: `${'a'.repeat(length - (i % 8))}b${'a'.repeat(i % 8)}`,
    })),
  });

it.each([31, 500, 990])('a text that is hard to search for gives its reader back: %i characters', async (length) => {
  const folder = testFolder();
  const file = join(folder, 'game.sqlite');
  const { engine, log } = await openSqlite(file, 2);
  try {
    const target = await declareNotes(engine);
    const db = new SQLite(file);
    db.exec(LARGE);
    db.close();
    const count = engine.count(target, notesWhere(target, nearly(length)), within(STATEMENT_MS));
    await expect(count).rejects.toMatchObject({ code: 'database_timeout' });
    // The only reader: it answers, and is not replaced.
    await engine.ping(within(1500));
    expect(log).toEqual([]);
  } finally {
    await engine.close();
  }
});

it('statements that ran out of time give the processor back within a second', async () => {
  const folder = testFolder();
  const file = join(folder, 'game.sqlite');
  const { engine } = await openSqlite(file);
  try {
    const target = await declareNotes(engine);
    const db = new SQLite(file);
    db.exec(CROWD);
    db.close();
    const slow = Array.from({ length: 6 }, () => engine.count(target, notesWhere(target, SLOW), within(STATEMENT_MS)));
    const codes = await Promise.all(slow.map((count) => count.then(String, (error) => error.code)));
    expect(new Set(codes)).toEqual(new Set(['database_timeout']));
    expect(await cpuOfOneSecondMs()).toBeLessThan(IDLE_CPU_MS);
  } finally {
    await engine.close();
  }
});
