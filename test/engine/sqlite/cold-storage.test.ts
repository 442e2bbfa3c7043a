import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect } from 'vitest';
import { ThreadReads } from '#engine/sqlite/spot/thread-reads.ts';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { declareNotes, notesWhere, openSqlite, readNotes, within } from './world.ts';

const TMPFS = 0x01021994;
const NOTES = 3000;

/** Takes the file out of the memory of the system. */
function makeCold(file: string): void {
  const opened = openSync(file, 'r+');
  fsyncSync(opened);
  closeSync(opened);
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
}

const folder = testFolder();
const counted = ThreadReads.open();
counted?.close();
const inMemory = statfsSync(folder).type === TMPFS ? 'temporary files are in memory, so that none can be cold' : null;
const whyNot = counted === null ? 'the kernel counts no reads of threads' : inMemory;

itIf(whyNot, 'a cold file is left to the readers after the first reads of the disk', async () => {
  const file = join(folder, 'game.sqlite');
  const { engine: first } = await openSqlite(file);
  await declareNotes(first);
  await first.close();
  const db = new SQLite(file);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${NOTES})
    INSERT INTO game__notes SELECT i, hex(randomblob(8000)) FROM n`);
  db.close();
  makeCold(file);
  const { engine } = await openSqlite(file);
  try {
    const target = await readNotes(engine);
    for (let n = 1; n <= NOTES; n += 1) {
      // Far from the one before, so that no reading ahead has brought it.
      const filter = notesWhere(target, `{"field":"id","op":"eq","value":${1 + ((n * 997) % NOTES)}}`);
      const query = { filter, fields: ['id', 'body'], sort: [], limit: 1, offset: 0, maxBytes: 1e6 };
      const page = await engine.find(target, query, within(30_000));
      expect(page.rows).not.toBe('[]');
    }
    expect(engine.stats().spotReads).toBeGreaterThan(0);
    expect(engine.stats().spotReads).toBeLessThan(NOTES);
  } finally {
    await engine.close();
  }
});
