import { ApiError } from '../../../db_connector/protocol/errors.ts';
import { classify, errnoOf } from './failures.ts';

/** Whether the statement surely did not happen, and the connection goes on. */
export function isRefused(error: unknown): boolean {
  if (error instanceof ApiError) return error.code !== 'database_timeout';
  return errnoOf(error) !== null && classify(error).kind !== 'lost';
}

/** Twice the same, NULL, too long, out of range, not exact. */
const UNFIT = new Set([1022, 1048, 1062, 1138, 1169, 1263, 1264, 1265, 1292, 1366, 1406, 1586]);

/** What a refused statement of a schema change means to the caller; others stay as they are. */
export function schemaError(error: unknown, namespace: string): unknown {
  const errno = errnoOf(error);
  if (errno === null) return error;
  if (classify(error).kind === 'conflict') {
    const reason = 'another program has been using its tables for long; try again';
    return new ApiError('conflict_retry', `the schema of namespace ${namespace} was not changed: ${reason}`);
  }
  if (UNFIT.has(errno)) {
    const reason = 'rows were written meanwhile that do not fit the declared schema';
    return new ApiError('data_does_not_fit', `${namespace}: ${reason}`, { cause: error });
  }
  return error;
}
