import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import type { Row, Write } from '../rows.ts';
import type { SqlDialect, SqlParams } from './dialect.ts';

/** The text after SET in an update. */
export function setSql(
  dialect: SqlDialect,
  table: Table,
  write: { readonly set: Row; readonly inc: Row },
  params: SqlParams,
): string {
  const changes = table.columns.flatMap((column) => {
    const name = dialect.quoted(column.name);
    const set = write.set.get(column.name);
    if (set !== undefined) return [`${name} = ${params.value(column, set)}`];
    const amount = write.inc.get(column.name);
    return amount === undefined ? [] : [`${name} = ${dialect.incSql(column, amount, params)}`];
  });
  return changes.join(', ');
}

/** Whether an update may match at most one row, since it has an `inc` of a unique column (contract section 4). */
export function isSingleRowOnly(table: Table, write: Write & { op: 'update' }): boolean {
  return [...write.inc.keys()].some((name) => isUnique(table, name));
}

function isUnique(table: Table, name: string): boolean {
  const isDeclaredUnique = table.columns.some((column) => column.name === name && column.unique);
  return isDeclaredUnique || table.indexes.some((index) => index.unique && index.columns.includes(name));
}

export function generatedColumn(table: Table): Column | null {
  return table.columns.find((column) => column.autoIncrement) ?? null;
}

/** JSON texts of the ids that rows bring along: only keys of a single column are answered (InsertResult). */
export function givenIds(table: Table, rows: readonly Row[]): string[] {
  const [name, ...others] = table.primaryKey ?? [];
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined || others.length > 0) return [];
  return rows.map((row) => writeValue(column, row.get(column.name) ?? null));
}

export function insertResult(count: number, ids: readonly string[]): string {
  return `{"inserted":${count},"ids":[${ids.join(',')}]}`;
}

export function affectedResult(affected: number): string {
  return `{"affected":${affected}}`;
}

/** Result of an update or delete, whose transaction is rolled back if the change was too wide. */
export function changeResult(affected: number, isSingleRow: boolean): string {
  if (isSingleRow && affected > 1) {
    throw new ApiError('constraint_violation', 'inc of a unique column matches more than one row; nothing was changed');
  }
  return affectedResult(affected);
}

/** Attempts of an upsert: another session may insert the row, or delete it, at the same moment. */
export const MAX_UPSERT_ATTEMPTS = 5;

/** The error after the last attempt, of an upsert or of a whole transaction. */
export function writeConflict(): ApiError {
  return new ApiError(
    'conflict_retry',
    'write conflict: other writes were in the way until the time was over; retry the call',
  );
}

/** Attempts of a write that is repeated because of a twin, or because the record of its slot expires at that moment. */
export const MAX_TWIN_ATTEMPTS = 3;

/**
 * Two upserts of one new row may meet at another unique index than that of the keys, which the server calls a violation.
 * At the next attempt the row is there.
 */
export function isMaybeTwin(write: Write, error: unknown): boolean {
  return write.op === 'upsert' && error instanceof ApiError && error.code === 'constraint_violation';
}
