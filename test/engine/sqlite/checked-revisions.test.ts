import SQLite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { StaleSchemaError } from '#engine/rows.ts';
import { CheckedRevisions, Connection } from '#engine/sqlite/connection.ts';
import { testFolder } from '#support/test-folder.ts';
import { declareNotes, insertNote, openSqlite } from './world.ts';

it('looks at a revision once in a transaction, and at each other one', async () => {
  const file = `${testFolder()}/game.sqlite`;
  const { engine } = await openSqlite(file);
  const { revision } = await declareNotes(engine);
  const connection = new Connection({ file, role: 'reader', leavesCheckpoints: true });
  let looks = 0;
  const look = connection.checkRevision.bind(connection);
  connection.checkRevision = (...asked) => {
    looks += 1;
    look(...asked);
  };
  const revisions = new CheckedRevisions(connection);
  revisions.check('game', revision);
  revisions.check('game', revision);
  expect(looks).toBe(1);
  expect(() => revisions.check('game', revision - 1)).toThrow(StaleSchemaError);
  expect(() => revisions.check('other', revision)).toThrow(StaleSchemaError);
  connection.close();
  await engine.close();
});

it('a group of writes looks again at what the group before it has seen', async () => {
  const file = `${testFolder()}/game.sqlite`;
  const { engine } = await openSqlite(file);
  const target = await declareNotes(engine);
  await insertNote(engine, target, 'x');
  const other = new SQLite(file);
  other.exec("UPDATE _schemas SET revision = revision + 1 WHERE namespace = 'game'");
  other.close();
  await expect(insertNote(engine, target, 'x')).rejects.toBeInstanceOf(StaleSchemaError);
  await engine.close();
});
