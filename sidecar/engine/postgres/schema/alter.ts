import { fillOf } from '#engine/model/column-change.ts';
import { identityOf, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { HIDDEN_ID, physicalTable } from '#engine/model/physical-names.ts';
import { changesKey, type TableTransition } from '#engine/model/table-transition.ts';
import type { ChangeConnection } from '#engine/sql/schema/connection.ts';
import { raiseRemembered, rememberGenerator, renameTable } from '#engine/sql/schema/tables.ts';
import type { Column } from '#protocol/schema.ts';
import { POSTGRES_DIALECT } from '../dialect.ts';
import { addKeySql, createIndexSql, dropKeySql, renameColumnSql, typeSql } from './ddl.ts';
import { addNumbers, dropGenerator, generatorChange, makeGenerator } from './generators.ts';
import { carryIndexes } from './index-change.ts';
import { rewriteWornOut } from './rewrite.ts';

/** Brings a table that stays, and whose rows are known to fit, to its declared form; inside a transaction. */
export async function changeTable(
  connection: ChangeConnection,
  namespace: string,
  change: TableTransition,
  now: number,
): Promise<void> {
  const { from, to, sources } = change;
  const physical = physicalTable(namespace, to.name);
  await rewriteWornOut(connection, namespace, change);
  await rememberGenerator(connection, namespace, from);
  await moveTable(connection, namespace, change);
  const made = await carryIndexes(connection, namespace, change);
  const generator = await generatorChange(connection, namespace, change);
  if (generator?.kind !== 'stays') await dropGenerator(connection, physical, from);
  if (generator?.kind === 'new') await addNumbers(connection, physical, from, generator);
  if (changesKey(change)) await connection.run(dropKeySql(physical));
  for (const [name, source] of sources) {
    if (source.name !== name) await connection.run(renameColumnSql(physical, source.name, name));
  }
  await alterColumns(connection, physical, change, now);
  if (changesKey(change)) await connection.run(addKeySql(physical, identityOf(to)));
  if (generator !== null && generator.kind !== 'stays') await makeGenerator(connection, physical, generator);
  await raiseRemembered(connection, namespace, to);
  for (const index of physicalIndexes(physical, to)) {
    if (!made.has(index.name)) await connection.run(createIndexSql(physical, to, index));
  }
}

async function moveTable(
  connection: ChangeConnection,
  namespace: string,
  { from, to }: TableTransition,
): Promise<void> {
  if (from.name === to.name) return;
  await renameTable(connection, from, physicalTable(namespace, from.name), physicalTable(namespace, to.name));
  await rememberGenerator(connection, namespace, { ...from, name: to.name });
}

/** All in one statement, so that PostgreSQL rewrites a large table once at most. */
async function alterColumns(
  connection: ChangeConnection,
  physical: string,
  { from, to, sources, removed }: TableTransition,
  now: number,
): Promise<void> {
  const gone = removed.map(({ name }) => name);
  if (from.primaryKey === undefined && to.primaryKey !== undefined) gone.push(HIDDEN_ID);
  const actions = gone.map((name) => `DROP COLUMN ${connection.quoted(name)}`);
  const filled: string[] = [];
  for (const column of to.columns) {
    const source = sources.get(column.name);
    if (source !== undefined) actions.push(...columnActions(connection.quoted(column.name), source, column));
    else if (!column.autoIncrement) actions.push(await addedSql(connection, column, now, filled));
  }
  const table = connection.quoted(physical);
  // Sent unchanged: a question mark in a default is no place of a parameter.
  if (actions.length > 0) await connection.session.query(`ALTER TABLE ${table} ${actions.join(', ')}`);
  // The value for existing rows is no default of later rows, which arrive complete.
  for (const name of filled) await connection.run(`ALTER TABLE ${table} ALTER COLUMN ${name} DROP DEFAULT`);
}

function columnActions(name: string, from: Column, to: Column): string[] {
  const actions: string[] = [];
  const type = typeSql(to);
  if (typeSql(from) !== type) actions.push(`ALTER COLUMN ${name} TYPE ${type}`);
  if (from.nullable !== to.nullable) actions.push(`ALTER COLUMN ${name} ${to.nullable ? 'DROP' : 'SET'} NOT NULL`);
  return actions;
}

async function addedSql(connection: ChangeConnection, column: Column, now: number, filled: string[]): Promise<string> {
  const name = connection.quoted(column.name);
  const declared = `ADD COLUMN ${name} ${typeSql(column)}${column.nullable ? '' : ' NOT NULL'}`;
  const fill = fillOf(column, now);
  if (fill.kind === 'random') {
    filled.push(name);
    return `${declared} DEFAULT gen_random_uuid()`;
  }
  if (fill.kind !== 'constant' || fill.value === null) return declared;
  filled.push(name);
  // ALTER TABLE takes no parameters; the server itself quotes the value as a literal.
  const param = POSTGRES_DIALECT.toParam(column, fill.value);
  const [row] = await connection.rows(`SELECT quote_literal(CAST(${POSTGRES_DIALECT.typed(column, '?')} AS text))`, [
    param,
  ]);
  return `${declared} DEFAULT ${String(row?.[0])}`;
}
