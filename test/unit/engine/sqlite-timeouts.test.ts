import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { declareNotes, newFolder, notesWhere, openSqlite, removeFolder, within } from './sqlite-world.ts';

const STATEMENT_MS = 300;
/** What other work in this process (the timers) may use of a second. */
const IDLE_CPU_MS = 300;
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

it('statements that ran out of time give the processor back within a second', async () => {
  const folder = newFolder();
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
    removeFolder(folder);
  }
});
