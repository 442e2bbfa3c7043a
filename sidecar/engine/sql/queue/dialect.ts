import type { QueuedWork } from '#engine/queues.ts';
import type { SchemaDialect } from '../schema/connection.ts';
import type { Session, SqlFailure } from '../session.ts';

/** What the queues of PostgreSQL and MySQL differ in. */
export interface QueueDialect {
  readonly schema: SchemaDialect;
  /** What stands behind an INSERT, so that a row that has the same value in the column `key` stays as it is. */
  keepSql(key: string): string;
  /**
   * Runs a write inside a transaction; nobody wants its result. Rejects like `Engine.write`: with `StaleSchemaError`, an
   * `ApiError` or the driver's own error. What it has done by then is undone by the caller, with a savepoint.
   */
  runWrite(session: Session, work: QueuedWork): Promise<void>;
  classify(error: unknown): SqlFailure;
}
