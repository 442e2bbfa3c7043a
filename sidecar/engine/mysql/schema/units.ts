import { fillOf } from '#engine/model/column-change.ts';
import { keptOf } from '#engine/model/kept.ts';
import { hasGenerator } from '#engine/model/physical-indexes.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import { emptyColumn } from '#engine/model/restore-rules.ts';
import { keptColumnForm } from '#engine/model/storage-form.ts';
import { type TableTransition, transitionTo } from '#engine/model/table-transition.ts';
import { type KeptCopy, type RestoreColumnUnit, restoredTable, type Unit } from '#engine/pending/plan.ts';
import { rememberedLastId, rememberLastId } from '#engine/sql/schema/generators.ts';
import { copyKeptSql, sameRowSql } from '#engine/sql/schema/keep.ts';
import type { Table } from '#protocol/schema.ts';
import { quoted } from '../dialect.ts';
import { checkLease, placeOf, putBackName } from './away.ts';
import type { ChangeContext } from './context.ts';
import { addIndexClauses, alterClauses, createTableSql, markOf } from './ddl.ts';
import { addColumns, addFilled, fillColumns } from './fill.ts';
import { beginAtClause, columnNames, indexNames, lastId, tableMarks } from './inspect.ts';

type ChangeUnit = Extract<Unit, { kind: 'change' }>;

/** Does the rest of a unit. May be cut off after any statement and repeated. */
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

/** Whether its single statement that cannot be taken back has run. */
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

/** Takes back the preparations of a unit that is not done. Columns that were made by hand stay. */
export async function undoUnit(context: ChangeContext, unit: Unit): Promise<void> {
  const { connection, namespace } = context;
  if (unit.kind === 'change') {
    for (const keep of unit.keep) await connection.run(`DROP TABLE IF EXISTS ${quoted(keep.physical)}`);
  }
  if (unit.kind !== 'change' && unit.kind !== 'restoreColumn') return;
  const table = unit.kind === 'change' ? unit.change.from : unit.table;
  const physical = physicalTable(namespace, table.name);
  await putBackName(context, physical);
  const made = await columnNames(connection, physical);
  const added = newColumns(unit).filter((name) => made.has(name));
  const clauses = added.map((name) => `DROP COLUMN ${quoted(name)}`);
  if (clauses.length > 0) await connection.run(`ALTER TABLE ${quoted(physical)} ${clauses.join(', ')}`);
}

/** Names of columns that are new in a table. */
function newColumns(unit: ChangeUnit | RestoreColumnUnit): string[] {
  if (unit.kind === 'restoreColumn') return [unit.kept.column.name];
  const { from, to, sources } = unit.change;
  const declared = new Set(from.columns.map(({ name }) => name));
  return to.columns.map(({ name }) => name).filter((name) => !sources.has(name) && !declared.has(name));
}

async function createTable({ connection, namespace, revision, flavour }: ChangeContext, table: Table): Promise<void> {
  const next = hasGenerator(table) ? (await rememberedLastId(connection, namespace, table.name)) + 1n : 1n;
  const physical = physicalTable(namespace, table.name);
  await connection.run(createTableSql({ physical, table, flavour, revision, nextId: next }));
}

async function dropTable(context: ChangeContext, table: Table): Promise<void> {
  const physical = physicalTable(context.namespace, table.name);
  if (!(await isThere(context, physical))) return;
  await rememberGenerator(context, table, [table.name]);
  // Last: a late drop would be that of a table that was declared again.
  await checkLease(context);
  await context.connection.run(`DROP TABLE ${quoted(physical)}`);
}

async function keepTable(context: ChangeContext, table: Table, kept: string): Promise<void> {
  const physical = physicalTable(context.namespace, table.name);
  if (!(await isThere(context, physical))) return;
  await rememberGenerator(context, table, [table.name]);
  await context.connection.run(`RENAME TABLE ${quoted(physical)} TO ${quoted(kept)}`);
}

/** Restores a table. Its indexes moved with it; a table from another database has none yet. */
async function restoreTable(context: ChangeContext, table: Table, kept: string): Promise<void> {
  const { connection, namespace } = context;
  const physical = physicalTable(namespace, table.name);
  if (await isThere(context, physical)) return;
  const made = await indexNames(connection, kept);
  const clauses = addIndexClauses(physical, table, made);
  if (hasGenerator(table)) {
    const remembered = await rememberedLastId(connection, namespace, table.name);
    clauses.push(await beginAtClause(connection, kept, remembered + 1n));
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

/** Copies the values of a column. Drops the copy of an earlier attempt, which may be incomplete. */
async function keepColumn(context: ChangeContext, table: Table, { column, physical }: KeptCopy): Promise<void> {
  const { connection, namespace, flavour, revision } = context;
  // The copy of the column before may have taken long, and a late drop would be that of another sidecar's copy.
  await checkLease(context);
  await connection.run(`DROP TABLE IF EXISTS ${quoted(physical)}`);
  const form = keptColumnForm(physical, keptOf(table, column, undefined).key, column);
  await connection.run(createTableSql({ physical, table: form, flavour, revision, nextId: 1n }));
  await connection.run(
    copyKeptSql(connection, physical, placeOf(context, physicalTable(namespace, table.name)), table, column),
  );
}

/** Brings a table to its declared form and name in a single statement, which also names the change in the comment. */
async function alterTable(context: ChangeContext, change: TableTransition, filled: ReadonlySet<string>): Promise<void> {
  const { connection, namespace, flavour, revision } = context;
  const from = physicalTable(namespace, change.from.name);
  const to = physicalTable(namespace, change.to.name);
  const away = placeOf(context, from);
  await rememberGenerator(context, change.from, [change.from.name, change.to.name]);
  const clauses = alterClauses({ change, from, to, flavour, filled });
  if (hasGenerator(change.to)) {
    const first = (await rememberedLastId(connection, namespace, change.to.name)) + 1n;
    const isCarried = hasGenerator(change.from);
    clauses.push(isCarried ? await beginAtClause(connection, away, first) : `AUTO_INCREMENT=${first}`);
  }
  clauses.push(`COMMENT='${markOf(revision)}'`, `RENAME TO ${quoted(to)}`);
  await connection.run(`ALTER TABLE ${quoted(away)} ${clauses.join(', ')}`);
  context.places.delete(from);
}

/** Remembers the generator before a name becomes free, or a table gets another name. */
async function rememberGenerator(context: ChangeContext, table: Table, names: readonly string[]): Promise<void> {
  const { connection, namespace } = context;
  if (!hasGenerator(table)) return;
  const last = await lastId(connection, placeOf(context, physicalTable(namespace, table.name)));
  for (const name of new Set(names)) await rememberLastId(connection, namespace, name, last);
}

async function restoreColumn(context: ChangeContext, unit: RestoreColumnUnit): Promise<void> {
  const { connection } = context;
  const { table, kept, physical } = unit;
  if (!(await isDone(context, unit))) {
    await putBack(context, unit);
    const restored = restoredTable(unit, await lackingRows(context, unit));
    await alterTable(context, transitionTo(table, restored), new Set([kept.column.name]));
  }
  await connection.run(`DROP TABLE IF EXISTS ${quoted(physical)}`);
}

/** Puts values back into the rows that had them, and fills newer rows of a required column. */
async function putBack(context: ChangeContext, { table, kept, physical }: RestoreColumnUnit): Promise<void> {
  const { connection, namespace, now } = context;
  const { column } = kept;
  const present = placeOf(context, physicalTable(namespace, table.name));
  const name = quoted(column.name);
  await addColumns(context, present, [emptyColumn(kept)]);
  await connection.run(
    `UPDATE ${quoted(present)} AS present JOIN ${quoted(physical)} AS kept ON ${sameRowSql(connection, table)}
     SET present.${name} = kept.${quoted('value')}`,
  );
  const fill = fillOf(column, now);
  const isFilled = fill.kind === 'random' || (fill.kind === 'constant' && fill.value !== null && !column.unique);
  if (!column.nullable && isFilled) await fillColumns(context, present, [column], column);
}

/** Number of rows without a value for a required column, after its values are back. */
export function lackingRows(
  { connection, namespace, places }: Pick<ChangeContext, 'connection' | 'namespace' | 'places'>,
  { table, kept }: RestoreColumnUnit,
): Promise<number> {
  if (kept.column.nullable) return Promise.resolve(0);
  const physical = placeOf({ places }, physicalTable(namespace, table.name));
  return connection.number(`SELECT count(*) FROM ${quoted(physical)} WHERE ${quoted(kept.column.name)} IS NULL`);
}

async function isThere({ connection }: ChangeContext, physical: string): Promise<boolean> {
  return (await tableMarks(connection, [physical])).has(physical);
}
