import { ApiError } from '#protocol/errors.ts';
import { duplicateMessage } from '../model/failures.ts';
import { physicalIndexes } from '../model/physical-indexes.ts';
import { physicalTable } from '../model/physical-names.ts';
import type { TableTarget } from '../rows.ts';
import type { CompiledStatement } from '../sql/read.ts';
import type { Session, SqlResult } from '../sql/session.ts';
import { DUPLICATE_ENTRY, duplicateKey, errnoOf, GUARD_FAILURES, UNDEFINED } from './failures.ts';
import { refuseStale } from './schema/store.ts';

/** Runs a statement, and translates what it says about the schema or about a duplicate key. */
export async function send(
  session: Session,
  target: TableTarget,
  { sql, params }: CompiledStatement,
): Promise<SqlResult> {
  try {
    return await session.prepared(sql, params);
  } catch (error) {
    return explained(session, target, error);
  }
}

export async function explained(session: Session, target: TableTarget, error: unknown): Promise<never> {
  const errno = errnoOf(error) ?? 0;
  if (UNDEFINED.has(errno)) return refuseStale(session, target.namespace);
  if (GUARD_FAILURES.has(errno)) await checkCurrent(session, target);
  if (errno === DUPLICATE_ENTRY) throw duplicate(target, duplicateKey(error));
  throw error;
}

/** For a statement that has done nothing: returns where the schema is not the reason. */
export async function checkCurrent(session: Session, { namespace, revision }: TableTarget): Promise<void> {
  const { rows } = await session.prepared('SELECT revision FROM _schemas WHERE namespace = ?', [namespace]);
  if (Number(rows[0]?.[0]) !== revision) await refuseStale(session, namespace);
}

/** Another row has the key; `columns` are the columns of that key, or null if it is unknown. */
export class DuplicateError extends ApiError {
  readonly columns: readonly string[] | null;

  constructor(columns: readonly string[] | null) {
    super('constraint_violation', duplicateMessage(columns));
    this.columns = columns;
  }
}

function duplicate({ namespace, table, physical }: TableTarget, key: string | null): DuplicateError {
  if (key === 'PRIMARY') return new DuplicateError(table.primaryKey ?? null);
  const indexes = physicalIndexes(physical ?? physicalTable(namespace, table.name), table);
  return new DuplicateError(indexes.find((index) => index.name === key)?.columns ?? null);
}
