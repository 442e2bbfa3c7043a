import { fillOf } from '#engine/model/column-change.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { SqlParam } from '#engine/sql/session.ts';
import type { Column } from '#protocol/columns.ts';
import { quoted } from '../dialect.ts';
import { placeOf } from './away.ts';
import type { ChangeContext } from './context.ts';
import { columnSql } from './ddl.ts';
import { columnNames, isEmpty } from './inspect.ts';
import type { Flavour } from './types.ts';

/**
 * Adds new columns as nullable, and fills them in existing rows, before the table gets its declared form. Returns their
 * names.
 */
export async function addFilled(context: ChangeContext, change: TableTransition): Promise<Set<string>> {
  const { connection, namespace, now } = context;
  const physical = placeOf(context, physicalTable(namespace, change.from.name));
  const columns = change.to.columns.filter((column) => {
    if (change.sources.has(column.name)) return false;
    const fill = fillOf(column, now);
    return fill.kind === 'random' || (fill.kind === 'constant' && fill.value !== null);
  });
  const [first] = columns;
  if (first === undefined || (await isEmpty(connection, physical))) return new Set();
  await addColumns(context, physical, columns);
  await fillColumns(context, physical, columns, first);
  return new Set(columns.map(({ name }) => name));
}

export async function addColumns(
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

/** Fills the columns in every row that has NULL in `first`, in one statement. */
export async function fillColumns(
  { connection, flavour, now }: ChangeContext,
  physical: string,
  columns: readonly Column[],
  first: Column,
): Promise<void> {
  const params: SqlParam[] = [];
  const sets = columns.map((column) => {
    const fill = fillOf(column, now);
    if (fill.kind !== 'constant') return `${quoted(column.name)} = ${randomUuid(flavour)}`;
    params.push(connection.dialect.toParam(column, fill.value));
    return `${quoted(column.name)} = ${connection.dialect.typed(column, '?')}`;
  });
  await connection.run(`UPDATE ${quoted(physical)} SET ${sets.join(', ')} WHERE ${quoted(first.name)} IS NULL`, params);
}

/** 32 hexadecimal digits. New servers of MySQL lack `MD5`, and older ones of MariaDB `RANDOM_BYTES`. */
const RANDOM_DIGITS = {
  mariadb: 'MD5(CONCAT(UUID_SHORT(), RAND(), RAND(), CONNECTION_ID()))',
  mysql: 'LOWER(HEX(RANDOM_BYTES(16)))',
} as const satisfies Record<Flavour, string>;

/**
 * A random UUID of version 4, another one in each row. MySQL's own are of version 1, which reveals the time and the
 * machine.
 */
function randomUuid(flavour: Flavour): string {
  return `INSERT(INSERT(INSERT(INSERT(INSERT(INSERT(${RANDOM_DIGITS[flavour]},
    13, 1, '4'), 17, 1, 'a'), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')`;
}
