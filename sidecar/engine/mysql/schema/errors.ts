import { ApiError } from '#protocol/errors.ts';
import { classify, errnoOf } from '../failures.ts';

/** Whether the statement certainly did not happen, and the connection can be used. */
export function isRefused(error: unknown): boolean {
  if (error instanceof ApiError) return error.code !== 'database_timeout';
  return errnoOf(error) !== null && classify(error).kind !== 'lost';
}

/** Repeated values, NULL, too long, out of range, not exact. */
const UNFIT = new Set([1022, 1048, 1062, 1138, 1169, 1263, 1264, 1265, 1292, 1366, 1406, 1586]);

/** Foreign keys and checks that were made by hand on tables of the sidecar. */
const MADE_BY_HAND = new Set([1216, 1217, 1451, 1452, 1553, 1828, 1829, 1830, 1832, 1833, 1834, 3730, 3780, 4025]);
/** Rows and keys within the contract fit pages of 16 KiB, the default of servers. */
const TOO_WIDE = new Set([1070, 1071, 1117, 1118]);

/** Error for the caller of a refused statement of a schema change; other errors stay as they are. */
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
  if (MADE_BY_HAND.has(errno)) {
    const reason = 'a foreign key or a check that was made by hand is in the way; remove it first';
    return new ApiError('unsupported_change', `${namespace}: ${reason}`, { cause: error });
  }
  if (TOO_WIDE.has(errno)) {
    const reason = 'the server holds no rows or keys so wide; is its innodb_page_size smaller than 16k?';
    return new ApiError('unsupported_change', `${namespace}: ${reason}`, { cause: error });
  }
  return error;
}
