import type { Column } from '../../../db_connector/protocol/columns.ts';
import type { Table } from '../../../db_connector/protocol/schema.ts';
import { fillOf } from '../column-fill.ts';
import { keptOf } from '../kept-column.ts';
import { hasGenerator } from '../physical-indexes.ts';
import { physicalTable } from '../physical-names.ts';
import { emptyColumn, restoredColumn } from '../restore-rules.ts';
import type { SchemaConnection } from '../sql/schema-connection.ts';
import { rememberedLastId, rememberLastId } from '../sql/schema-generators.ts';
import { copyKeptSql, sameRowSql } from '../sql/schema-keep.ts';
import type { SqlParam } from '../sql/session.ts';
import { keptColumnForm } from '../storage-form.ts';
import { type TableTransition, transitionTo } from '../table-transition.ts';
import { addIndexClauses, alterClauses, columnSql, createTableSql, markOf, quoted } from './schema-ddl.ts';
import { columnNames, indexNames, isEmpty, lastId, nextId, tableMarks } from './schema-inspect.ts';
import type { Keep, Unit } from './schema-pending.ts';
import type { Flavour } from './schema-types.ts';

/** Where and as what a change runs. */
export interface ChangeContext {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly namespace: string;
  /** To which the change leads. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

type ChangeUnit = Extract<Unit, { kind: 'change' }>;
type RestoreColumnUnit = Extract<Unit, { kind: 'restoreColumn' }>;

/** Does what is left of a unit; may be cut off after any statement and done again. */
export async function runUnit(context: ChangeContext, unit: Unit): Promise<void> {
  const { kind } = unit;
  switch (kind) {
    case 'create':
      return createTable(context, unit.table);
    case 'change':
      return changeTable(context, unit);
    case 'drop':
      return dropTable(context, unit.table);
    case 'quarantine':
      return keepTable(context, unit.table, unit.physical);
    case 'restoreTable':
      return restoreTable(context, unit.table, unit.physical);
    case 'restoreColumn':
      return restoreColumn(context, unit);
    default:
      return kind satisfies never;
  }
}

/** Whether its one statement that cannot be taken back has run. */
export async function isDone({ connection, namespace, revision }: ChangeContext, unit: Unit): Promise<boolean> {
  const table = unit.kind === 'change' ? unit.change.to : unit.table;
  const physical = physicalTable(namespace, table.name);
  const mark = (await tableMarks(connection, [physical])).get(physical);
  const { kind } = unit;
  switch (kind) {
    case 'create':
    case 'restoreTable':
      return mark !== undefined;
    case 'drop':
    case 'quarantine':
      return mark === undefined;
    case 'change':
    case 'restoreColumn':
      return mark === markOf(revision);
    default:
      return kind satisfies never;
  }
}

/** Takes back what a unit that is not done has prepared. */
export async function undoUnit({ connection, namespace }: ChangeContext, unit: Unit): Promise<void> {
  if (unit.kind === 'change') {
    for (const keep of unit.keep) await connection.run(`DROP TABLE IF EXISTS ${quoted(keep.physical)}`);
  }
  if (unit.kind !== 'change' && unit.kind !== 'restoreColumn') return;
  const table = unit.kind === 'change' ? unit.change.from : unit.table;
  const declared = new Set(table.columns.map(({ name }) => name));
  const physical = physicalTable(namespace, table.name);
  const made = [...(await columnNames(connection, physical))].filter((name) => !name.startsWith('_'));
  const added = made.filter((name) => !declared.has(name)).map((name) => `DROP COLUMN ${quoted(name)}`);
  if (added.length > 0) await connection.run(`ALTER TABLE ${quoted(physical)} ${added.join(', ')}`);
}

async function createTable({ connection, namespace, revision, flavour }: ChangeContext, table: Table): Promise<void> {
  const next = (await rememberedLastId(connection, namespace, table.name)) + 1n;
  const physical = physicalTable(namespace, table.name);
  await connection.run(createTableSql({ physical, table, flavour, revision, nextId: next }));
}

async function dropTable(context: ChangeContext, table: Table): Promise<void> {
  const physical = physicalTable(context.namespace, table.name);
  if (!(await isThere(context, physical))) return;
  await rememberGenerator(context, table, [table.name]);
  await context.connection.run(`DROP TABLE ${quoted(physical)}`);
}

async function keepTable(context: ChangeContext, table: Table, kept: string): Promise<void> {
  const physical = physicalTable(context.namespace, table.name);
  if (!(await isThere(context, physical))) return;
  await rememberGenerator(context, table, [table.name]);
  await context.connection.run(`RENAME TABLE ${quoted(physical)} TO ${quoted(kept)}`);
}

/** Its indexes went with it; one that came from another database has none yet. */
async function restoreTable(context: ChangeContext, table: Table, kept: string): Promise<void> {
  const { connection, namespace } = context;
  const physical = physicalTable(namespace, table.name);
  if (await isThere(context, physical)) return;
  const made = await indexNames(connection, kept);
  const clauses = addIndexClauses(physical, table, made);
  if (hasGenerator(table)) {
    const remembered = (await rememberedLastId(connection, namespace, table.name)) + 1n;
    if (remembered > (await nextId(connection, kept))) clauses.push(`AUTO_INCREMENT=${remembered}`);
  }
  clauses.push(`RENAME TO ${quoted(physical)}`);
  await connection.run(`ALTER TABLE ${quoted(kept)} ${clauses.join(', ')}`);
}

async function changeTable(context: ChangeContext, unit: ChangeUnit): Promise<void> {
  if (await isDone(context, unit)) return;
  const { change, keep } = unit;
  for (const item of keep) await keepColumn(context, change.from, item);
  await alterTable(context, change, await addFilled(context, change));
}

/** Copies the column's values; what an earlier attempt has copied is thrown away, as it may not be all. */
async function keepColumn(context: ChangeContext, table: Table, keep: Keep): Promise<void> {
  const { connection, namespace, flavour, revision } = context;
  const column = table.columns.find(({ name }) => name === keep.column);
  if (column === undefined) throw new Error(`a change keeps column ${keep.column}, which its table lacks`);
  await connection.run(`DROP TABLE IF EXISTS ${quoted(keep.physical)}`);
  const form = keptColumnForm(keep.physical, keptOf(table, column).key, column);
  await connection.run(createTableSql({ physical: keep.physical, table: form, flavour, revision, nextId: 1n }));
  await connection.run(copyKeptSql(connection, keep.physical, physicalTable(namespace, table.name), table, column));
}

/** New columns that rows get a value in are made nullable and filled before the table becomes what is declared. */
async function addFilled(context: ChangeContext, change: TableTransition): Promise<Set<string>> {
  const { connection, namespace, now } = context;
  const physical = physicalTable(namespace, change.from.name);
  const columns = change.to.columns.filter((column) => {
    if (change.sources.has(column.name)) return false;
    const fill = fillOf(column, now);
    return fill.kind === 'random' || (fill.kind === 'constant' && fill.value !== null);
  });
  const [first] = columns;
  if (first === undefined || (await isEmpty(connection, physical))) return new Set();
  await addColumns(context, physical, columns);
  const { sets, params } = fillSets(context, columns);
  await connection.run(`UPDATE ${quoted(physical)} SET ${sets.join(', ')} WHERE ${quoted(first.name)} IS NULL`, params);
  return new Set(columns.map(({ name }) => name));
}

async function addColumns(
  { connection, flavour }: ChangeContext,
  physical: string,
  columns: readonly Column[],
): Promise<void> {
  const made = await columnNames(connection, physical);
  const clauses = columns
    .filter(({ name }) => !made.has(name))
    .map((column) => `ADD COLUMN ${columnSql({ ...column, nullable: true }, flavour)}`);
  if (clauses.length > 0) await connection.run(`ALTER TABLE ${quoted(physical)} ${clauses.join(', ')}`);
}

function fillSets(
  { connection, now }: ChangeContext,
  columns: readonly Column[],
): { readonly sets: string[]; readonly params: SqlParam[] } {
  const params: SqlParam[] = [];
  const sets = columns.map((column) => {
    const fill = fillOf(column, now);
    if (fill.kind !== 'constant') return `${quoted(column.name)} = ${RANDOM_UUID}`;
    params.push(connection.dialect.toParam(column, fill.value));
    return `${quoted(column.name)} = ${connection.dialect.typed(column, '?')}`;
  });
  return { sets, params };
}

/**
 * A random UUID of version 4, another one in each row: MySQL's own are of version 1, tell the time and the machine, and
 * `RANDOM_BYTES` is missing in older servers of MariaDB.
 */
const RANDOM_DIGITS = 'MD5(CONCAT(UUID_SHORT(), RAND(), RAND(), CONNECTION_ID()))';
const RANDOM_UUID = `INSERT(INSERT(INSERT(INSERT(INSERT(INSERT(${RANDOM_DIGITS},
  13, 1, '4'), 17, 1, 'a'), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;

/** The one statement that makes a table what it is declared to be, and says so in its comment. */
async function alterTable(context: ChangeContext, change: TableTransition, filled: ReadonlySet<string>): Promise<void> {
  const { connection, namespace, flavour, revision } = context;
  const from = physicalTable(namespace, change.from.name);
  const to = physicalTable(namespace, change.to.name);
  await rememberGenerator(context, change.from, [change.from.name, change.to.name]);
  const clauses = alterClauses({ change, from, to, flavour, filled });
  if (hasGenerator(change.to)) {
    const next = (await rememberedLastId(connection, namespace, change.to.name)) + 1n;
    const isCarried = hasGenerator(change.from) && (await nextId(connection, from)) >= next;
    if (!isCarried) clauses.push(`AUTO_INCREMENT=${next}`);
  }
  clauses.push(`COMMENT='${markOf(revision)}'`);
  await connection.run(`ALTER TABLE ${quoted(from)} ${clauses.join(', ')}`);
}

/** Before a name becomes free, or a table gets another one. */
async function rememberGenerator(
  { connection, namespace }: ChangeContext,
  table: Table,
  names: readonly string[],
): Promise<void> {
  if (!hasGenerator(table)) return;
  const last = await lastId(connection, physicalTable(namespace, table.name));
  for (const name of new Set(names)) await rememberLastId(connection, namespace, name, last);
}

async function restoreColumn(context: ChangeContext, unit: RestoreColumnUnit): Promise<void> {
  const { connection } = context;
  const { table, kept, physical } = unit;
  if (!(await isDone(context, unit))) {
    await putBack(context, unit);
    const column = restoredColumn(kept, await lackingRows(context, unit));
    const restored = { ...table, columns: [...table.columns, column] };
    await alterTable(context, transitionTo(table, restored), new Set([column.name]));
  }
  await connection.run(`DROP TABLE IF EXISTS ${quoted(physical)}`);
}

/** Values go back to the rows that had them; rows that came since get what a required column has for them. */
async function putBack(context: ChangeContext, { table, kept, physical }: RestoreColumnUnit): Promise<void> {
  const { connection, namespace, now } = context;
  const { column } = kept;
  const present = physicalTable(namespace, table.name);
  const name = quoted(column.name);
  await addColumns(context, present, [emptyColumn(kept)]);
  await connection.run(
    `UPDATE ${quoted(present)} AS present JOIN ${quoted(physical)} AS kept ON ${sameRowSql(connection, table)}
     SET present.${name} = kept.${quoted('value')}`,
  );
  const fill = fillOf(column, now);
  const isFilled = fill.kind === 'random' || (fill.kind === 'constant' && fill.value !== null && !column.unique);
  if (column.nullable || !isFilled) return;
  const { sets, params } = fillSets(context, [column]);
  await connection.run(`UPDATE ${quoted(present)} SET ${sets.join(', ')} WHERE ${name} IS NULL`, params);
}

/** Rows for which a required column has nothing, once what it has is put back. */
export function lackingRows(
  { connection, namespace }: Pick<ChangeContext, 'connection' | 'namespace'>,
  { table, kept }: RestoreColumnUnit,
): Promise<number> {
  if (kept.column.nullable) return Promise.resolve(0);
  const physical = physicalTable(namespace, table.name);
  return connection.number(`SELECT count(*) FROM ${quoted(physical)} WHERE ${quoted(kept.column.name)} IS NULL`);
}

async function isThere({ connection }: ChangeContext, physical: string): Promise<boolean> {
  return (await tableMarks(connection, [physical])).has(physical);
}
