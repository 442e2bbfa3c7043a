import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { beforeEach, expect, it } from 'vitest';
import { testFolder } from '#support/test-folder.ts';
import { declareNotes, notesWhere, openSqlite, within } from './world.ts';

let folder = '';

beforeEach(() => {
  folder = testFolder();
});

/** Tampers with the file: the table's name no longer means the sidecar's own table. */
function tamper(file: string, sql: string): void {
  const db = new SQLite(file);
  db.exec(`ALTER TABLE game__notes RENAME TO kept; ${sql}`);
  db.close();
}

const LONG_ROWS = `
  CREATE TABLE game__notes (id INTEGER PRIMARY KEY, body AS (printf('%.*c', 1000000, 'x')));
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO game__notes SELECT i FROM n`;
const ENDLESS_ROWS = `
  CREATE VIEW game__notes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS body FROM n`;

it('a reader that runs out of memory fails its call alone and is started again', async () => {
  const file = join(folder, 'game.sqlite');
  const { engine, log } = await openSqlite(file);
  const target = await declareNotes(engine);
  tamper(file, LONG_ROWS);
  const page = { filter: null, fields: ['body'], sort: [], limit: 1e6, offset: 0, maxBytes: 1e12 };
  const find = engine.find(target, page, within(20_000));
  await expect(find).rejects.toMatchObject({ code: 'database_error' });
  expect(log.map((line) => line.message)).toContain('database worker is started again');
  await engine.ping(within(10_000));
  await engine.close();
});

it('rows without end are bounded by the deadline', async () => {
  const file = join(folder, 'game.sqlite');
  const { engine } = await openSqlite(file);
  const target = await declareNotes(engine);
  tamper(file, ENDLESS_ROWS);
  const nobody = notesWhere(target, '{"field":"id","op":"lt","value":0}');
  await expect(engine.count(target, nobody, within(300))).rejects.toMatchObject({ code: 'database_timeout' });
  await engine.close();
});
