import type { Database } from 'better-sqlite3';
import { fillOf } from '#engine/model/column-change.ts';
import { hasGenerator, indexText, type PhysicalIndex, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { changesKey, type TableTransition } from '#engine/model/table-transition.ts';
import type { Column, Table } from '#protocol/schema.ts';
import { toPhysical } from '../dialect.ts';
import { physicalTable, quoted } from '../names.ts';
import { isSameStorage } from './convert.ts';
import { columnSql, createIndexSql, createTableSql } from './ddl.ts';
import { defineRandom, RANDOM } from './fill.ts';
import { lastId, rememberedLastId, rememberLastId, setLastId } from './generators.ts';
import { rebuildTable } from './rebuild.ts';

export function createTable(db: Database, namespace: string, table: Table): void {
  const physical = physicalTable(namespace, table.name);
  db.exec(createTableSql(physical, table));
  if (hasGenerator(table)) setLastId(db, physical, rememberedLastId(db, namespace, table.name));
  makeIndexes(db, namespace, table);
}

export function dropTable(db: Database, namespace: string, table: Table): void {
  rememberGenerator(db, namespace, table);
  db.exec(`DROP TABLE ${quoted(physicalTable(namespace, table.name))}`);
}

/** Before a table's name becomes free. */
export function rememberGenerator(db: Database, namespace: string, table: Table): void {
  if (hasGenerator(table)) {
    rememberLastId(db, namespace, table.name, lastId(db, physicalTable(namespace, table.name)));
  }
}

/** Brings a table that stays, and whose rows are known to fit, to its declared form. */
export function changeTable(db: Database, namespace: string, change: TableTransition, now: number): void {
  const { from, to } = change;
  const physical = physicalTable(namespace, to.name);
  rememberGenerator(db, namespace, from);
  if (from.name !== to.name) {
    db.exec(`ALTER TABLE ${quoted(physicalTable(namespace, from.name))} RENAME TO ${quoted(physical)}`);
    rememberGenerator(db, namespace, { ...from, name: to.name });
  }
  if (needsRebuild(change)) {
    rebuildTable(db, physical, change, rememberedLastId(db, namespace, to.name), now);
  } else {
    dropIndexes(db, physical, physicalIndexes(physical, to), change);
    alterTable(db, physical, change, now);
    if (hasGenerator(to)) setLastId(db, physical, rememberedLastId(db, namespace, to.name));
  }
  makeIndexes(db, namespace, to);
}

/** Legal in `CREATE TABLE`, where they name a column; `ALTER TABLE` refuses them as names of SQLite's own row id. */
const ROW_ID_NAMES: ReadonlySet<string> = new Set(['rowid', 'oid']);

/** What `ALTER TABLE` of SQLite cannot do: keys, other values on disk, NOT NULL, other names for some columns. */
function needsRebuild(change: TableTransition): boolean {
  if (changesKey(change)) return true;
  const { to, sources, removed } = change;
  if (removed.some(isRowIdName)) return true;
  return to.columns.some((column) => {
    const source = sources.get(column.name);
    if (source?.name !== column.name && [source, column].some(isRowIdName)) return true;
    if (source === undefined) return !column.nullable;
    return source.nullable !== column.nullable || !isSameStorage(source, column);
  });
}

function isRowIdName(column: Column | undefined): boolean {
  return column !== undefined && ROW_ID_NAMES.has(column.name);
}

function alterTable(db: Database, physical: string, { to, sources, removed }: TableTransition, now: number): void {
  const table = quoted(physical);
  for (const column of removed) {
    db.exec(`ALTER TABLE ${table} DROP COLUMN ${quoted(column.name)}`);
  }
  for (const column of to.columns) {
    const source = sources.get(column.name);
    if (source !== undefined && source.name !== column.name) {
      db.exec(`ALTER TABLE ${table} RENAME COLUMN ${quoted(source.name)} TO ${quoted(column.name)}`);
    }
  }
  for (const column of to.columns.filter(({ name }) => !sources.has(name))) {
    db.exec(`ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}`);
    const fill = fillOf(column, now);
    if (fill.kind === 'random') {
      defineRandom(db);
      db.exec(`UPDATE ${table} SET ${quoted(column.name)} = ${RANDOM}`);
    } else if (fill.kind === 'constant' && fill.value !== null) {
      db.prepare(`UPDATE ${table} SET ${quoted(column.name)} = ?`).run(toPhysical(column, fill.value));
    }
  }
}

/** Those that the declared table does not have, before its columns change; renamed columns keep theirs. */
function dropIndexes(
  db: Database,
  physical: string,
  wanted: readonly PhysicalIndex[],
  { sources }: TableTransition,
): void {
  const staying = new Set(
    wanted.map((index) =>
      indexText({ ...index, columns: index.columns.map((name) => sources.get(name)?.name ?? name) }),
    ),
  );
  for (const index of madeIndexes(db, physical)) {
    if (!staying.has(indexText(index))) db.exec(`DROP INDEX ${quoted(index.name)}`);
  }
}

export function dropAllIndexes(db: Database, physical: string): void {
  for (const { name } of madeIndexes(db, physical)) db.exec(`DROP INDEX ${quoted(name)}`);
}

/** Makes those that are missing. */
export function makeIndexes(db: Database, namespace: string, table: Table): void {
  const physical = physicalTable(namespace, table.name);
  const made = new Set(madeIndexes(db, physical).map(indexText));
  for (const index of physicalIndexes(physical, table)) {
    if (!made.has(indexText(index))) db.exec(createIndexSql(physical, index));
  }
}

/** What `CREATE INDEX` has made, without the one that SQLite makes for a key. */
function madeIndexes(db: Database, physical: string): PhysicalIndex[] {
  const lists = db
    .prepare<[string], { name: string; unique: number | bigint }>(
      `SELECT name, "unique" FROM pragma_index_list(?) WHERE origin = 'c'`,
    )
    .all(physical);
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_index_info(?) ORDER BY seqno').pluck();
  return lists.map(({ name, unique }) => ({ name, unique: Number(unique) === 1, columns: columns.all(name) }));
}
