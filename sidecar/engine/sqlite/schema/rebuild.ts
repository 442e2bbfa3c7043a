import type { Database } from 'better-sqlite3';
import { fillOf } from '#engine/model/column-change.ts';
import { hasGenerator, identityOf } from '#engine/model/physical-indexes.ts';
import { HIDDEN_ID } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column } from '#protocol/columns.ts';
import { type Physical, toPhysical } from '../dialect.ts';
import { quoted } from '../names.ts';
import { converted, isSameStorage } from './convert.ts';
import { columnList, createTableSql } from './ddl.ts';
import { defineRandom, RANDOM } from './fill.ts';
import { lastId, setLastId } from './generators.ts';

/** No declared table can have this name, and the transaction that makes it also renames it. */
const NEW_TABLE = '_rebuild';

/** A column of the new table and the expression that fills it. */
interface Copy {
  readonly column: string;
  readonly sql: string;
  readonly parameters: readonly Physical[];
}

/**
 * Writes a table anew in its declared form, rows in the order in which they were read, and puts it in the place of the old one. Indexes are
 * made afterwards. `remembered` is the highest id that was ever generated under this name.
 */
export function rebuildTable(
  db: Database,
  physical: string,
  change: TableTransition,
  remembered: bigint,
  now: number,
): void {
  const { from, to } = change;
  db.exec(createTableSql(NEW_TABLE, to));
  if (hasGenerator(to)) setLastId(db, NEW_TABLE, remembered);
  const keepsHiddenId = from.primaryKey === undefined && to.primaryKey === undefined;
  if (keepsHiddenId || (hasGenerator(from) && hasGenerator(to))) setLastId(db, NEW_TABLE, lastId(db, physical));
  const copies = to.columns.map((column) => copyOf(db, column, change, now));
  if (keepsHiddenId) copies.unshift({ column: HIDDEN_ID, sql: quoted(HIDDEN_ID), parameters: [] });
  db.prepare(
    `INSERT INTO ${quoted(NEW_TABLE)} (${columnList(copies.map((copy) => copy.column))})
     SELECT ${copies.map((copy) => copy.sql).join(', ')} FROM ${quoted(physical)} WHERE guard() ORDER BY ${columnList(identityOf(from))}`,
  ).run(...copies.flatMap((copy) => copy.parameters));
  db.exec(`DROP TABLE ${quoted(physical)}; ALTER TABLE ${quoted(NEW_TABLE)} RENAME TO ${quoted(physical)}`);
}

function copyOf(db: Database, column: Column, { sources }: TableTransition, now: number): Copy {
  const source = sources.get(column.name);
  if (source !== undefined) return { column: column.name, sql: carried(db, source, column), parameters: [] };
  const fill = fillOf(column, now);
  switch (fill.kind) {
    case 'constant':
      return { column: column.name, sql: '?', parameters: [toPhysical(column, fill.value)] };
    case 'random':
      defineRandom(db);
      return { column: column.name, sql: RANDOM, parameters: [] };
    case 'none':
    case 'generated':
      // NULL makes SQLite number the row; where nothing fills a column, the checks have found the table empty.
      return { column: column.name, sql: 'NULL', parameters: [] };
    default:
      return fill satisfies never;
  }
}

function carried(db: Database, from: Column, to: Column): string {
  if (isSameStorage(from, to)) return quoted(from.name);
  const name = `_convert_${to.name}`;
  const convert = (value: Physical): Physical => converted(from, to, value);
  db.function(
    name,
    { deterministic: true, directOnly: true, safeIntegers: true },
    convert as (...values: unknown[]) => Physical,
  );
  return `${quoted(name)}(${quoted(from.name)})`;
}
