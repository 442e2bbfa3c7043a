import {
  MongoBulkWriteError,
  MongoCompatibilityError,
  MongoError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { ApiError } from '#protocol/errors.ts';
import { DiskFullError } from '../disk-full.ts';
import { DETAILS_IN_LOG } from '../log.ts';
import { duplicateMessage, type TroubleScope } from '../model/failures.ts';

/** Reason of the driver's `signal`: the time of the call is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** Meaning of an exception from the driver. */
export type MongoFailure =
  /** No failure of the database: thrown on as it is. */
  | { readonly kind: 'other' }
  /**
   * A unique index refused; `index` is its name, null if the server does not name it. Nothing of the statement is left.
   */
  | { readonly kind: 'duplicate'; readonly index: string | null }
  | { readonly kind: 'tooLong' }
  /** Write conflict; nothing of the statement is left. */
  | { readonly kind: 'conflict' }
  /** Time limit, of the server or of this process. */
  | { readonly kind: 'timeout' }
  /** No connection; the statement was certainly not sent, or not accepted. */
  | { readonly kind: 'unreachable'; readonly trouble: Trouble }
  /** The connection was lost during the statement: the outcome is unknown. */
  | { readonly kind: 'lost'; readonly trouble: Trouble }
  /** The server refused. */
  | { readonly kind: 'broken'; readonly trouble: Trouble };

export interface Trouble {
  readonly name: string;
  readonly scope: TroubleScope;
  readonly advice: string;
}

const NOT_REACHED: Trouble = {
  name: 'unreachable',
  scope: 'connection',
  advice: 'it cannot be reached: is it running, and is database.url in sidecar.json right?',
};
const TOO_OLD: Trouble = {
  name: 'incompatible',
  scope: 'connection',
  advice: 'the server is too old or of another kind: MongoDB 6 or newer is needed',
};
const REFUSED_ACCOUNT: Trouble = {
  name: 'account',
  scope: 'connection',
  advice: 'the server refuses the account: check user and password in database.url',
};
const REFUSED_RIGHT: Trouble = {
  name: 'rights',
  scope: 'write',
  advice: 'the account lacks a right: give it the role dbOwner of its database',
};
const DISK_FULL: Trouble = {
  name: 'disk',
  scope: 'write',
  advice: 'the disk of the server is full: free some space; writes go on by themselves then',
};
const READ_ONLY: Trouble = {
  name: 'readOnly',
  scope: 'write',
  advice: 'the server takes no writes: check its state and its replica set',
};
const UNEXPECTED: Trouble = { name: 'unexpected', scope: 'write', advice: 'unexpected; if it goes on, report it' };

const MAX_TIME_EXPIRED = 50;
const WRITE_CONFLICTS = [112, 251, 16908292];
const ACCOUNT_CODES = [18, 8000, 33];
const RIGHT_CODES = [13, 31];
/** The server is not the primary, and has not begun. */
const NOT_PRIMARY = [10107, 13435, 13436];
/** A router of a sharded cluster has no primary, or has lost it on the way. */
const NO_SHARD = 133;
const SHARD_LOST = [6, 7, 89, 9001];
/** The server ended the statement in its middle. */
const STOPPING = [91, 189, 11600, 11602];
const DISK_CODES = [14031, 53100];
const TOO_LONG_CODES = [10334, 17419, 17420, 285999133];

/** Messages of the server may hold values of rows: read only names and reasons from them. */
export function failureOf(error: unknown): MongoFailure {
  if (error instanceof DeadlineError) return { kind: 'timeout' };
  // Done on this server, with an unknown result on the others: do not send it again, even if its code says that there
  // is no primary.
  if (isOfWriteConcern(error)) return { kind: 'lost', trouble: NOT_REACHED };
  if (error instanceof MongoServerError) return serverFailure(error);
  if (error instanceof MongoServerSelectionError) return selectionFailure(error);
  if (error instanceof MongoNetworkError) return networkFailure(error);
  if (error instanceof MongoTopologyClosedError) return { kind: 'unreachable', trouble: NOT_REACHED };
  if (error instanceof MongoInvalidArgumentError && /larger than the maximum size/.test(error.message)) {
    return { kind: 'tooLong' };
  }
  if (error instanceof MongoCompatibilityError) return { kind: 'broken', trouble: TOO_OLD };
  if (error instanceof MongoError) return { kind: 'broken', trouble: UNEXPECTED };
  return { kind: 'other' };
}

function isOfWriteConcern(error: unknown): boolean {
  if (error instanceof MongoWriteConcernError) return true;
  return error instanceof MongoBulkWriteError && Array.isArray(error.writeErrors) && error.writeErrors.length === 0;
}

function selectionFailure(error: MongoServerSelectionError): MongoFailure {
  const { cause } = error;
  if (cause instanceof MongoServerError) return serverFailure(cause);
  if (cause instanceof MongoCompatibilityError) return { kind: 'broken', trouble: TOO_OLD };
  return { kind: 'unreachable', trouble: NOT_REACHED };
}

/** A cleared pool and a connection that was not made have sent nothing. */
function networkFailure(error: MongoNetworkError): MongoFailure {
  const { cause } = error;
  const isConnecting = cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect';
  const wasSent = !(isConnecting || error.name === 'MongoPoolClearedError' || isBeforeHandshake(error));
  return { kind: wasSent ? 'lost' : 'unreachable', trouble: NOT_REACHED };
}

function isBeforeHandshake(error: MongoNetworkError): boolean {
  return (error as { readonly beforeHandshake?: boolean }).beforeHandshake === true;
}

function serverFailure(error: MongoServerError): MongoFailure {
  const code = Number(error.code);
  const text = String(error.message);
  if (code === 11000 || code === 11001) return { kind: 'duplicate', index: indexOf(text) };
  if (code === MAX_TIME_EXPIRED) return { kind: 'timeout' };
  if (TOO_LONG_CODES.includes(code) || /larger than (MaxDocumentSize|\d+)/i.test(text)) return { kind: 'tooLong' };
  if (WRITE_CONFLICTS.includes(code) || /deadlock detected|could not serialize/.test(text)) return { kind: 'conflict' };
  if (ACCOUNT_CODES.includes(code)) return { kind: 'broken', trouble: REFUSED_ACCOUNT };
  if (NOT_PRIMARY.includes(code)) return { kind: 'unreachable', trouble: READ_ONLY };
  if (code === NO_SHARD) return { kind: 'unreachable', trouble: NOT_REACHED };
  if (STOPPING.includes(code) || SHARD_LOST.includes(code)) return { kind: 'lost', trouble: NOT_REACHED };
  if (RIGHT_CODES.includes(code)) return { kind: 'broken', trouble: REFUSED_RIGHT };
  if (DISK_CODES.includes(code) || /No space left on device/.test(text)) return { kind: 'broken', trouble: DISK_FULL };
  if (/read-only transaction/.test(text)) return { kind: 'broken', trouble: READ_ONLY };
  return { kind: 'broken', trouble: UNEXPECTED };
}

/** MongoDB says `… index: NAME dup key: …`, DocumentDB `… Index 'NAME'`. */
function indexOf(message: string): string | null {
  return /index: (\S+) dup key/.exec(message)?.[1] ?? /Index '([^']+)'/.exec(message)?.[1] ?? null;
}

/** Number of documents of an ordered insert before the one that failed. */
export function insertedBefore(error: unknown): number {
  return error instanceof MongoBulkWriteError ? error.insertedCount : 0;
}

/** Name of the failure for the log, without quotes. */
export function detailOf(error: unknown): string {
  if (error instanceof MongoServerError) return `${error.codeName ?? 'code'} ${error.code}`;
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) {
    const { cause } = error;
    return cause instanceof Error ? `${error.name}: ${cause.name} ${codeOf(cause)}`.trimEnd() : error.name;
  }
  return error instanceof Error ? error.name : 'unknown';
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}

export const DATABASE_FAILED = `the database failed${DETAILS_IN_LOG}`;

/** Error for the caller of the API, for a failure that nothing else has handled. Never throws. */
export function apiErrorOf(failure: Exclude<MongoFailure, { kind: 'other' }>, wasWriting: boolean): ApiError {
  switch (failure.kind) {
    case 'duplicate':
      return new ApiError('constraint_violation', duplicateMessage(null));
    case 'tooLong':
      return new ApiError('value_too_long', 'the row is longer than a document of the database may be, 16 MiB');
    case 'conflict':
      return new ApiError(
        'conflict_retry',
        'write conflict: gave up after 5 attempts; nothing was changed, retry the call',
      );
    case 'timeout':
      return wasWriting
        ? new ApiError('database_timeout', 'the write took too long and was ended: its outcome is unknown')
        : new ApiError('database_timeout', 'the statement took too long and was ended');
    case 'lost':
      return wasWriting
        ? new ApiError('database_timeout', 'the connection to the database was lost: the outcome is unknown')
        : new ApiError('database_error', DATABASE_FAILED);
    case 'unreachable':
    case 'broken':
      if (failure.trouble === DISK_FULL) return new DiskFullError(null);
      return new ApiError('database_error', DATABASE_FAILED);
    default:
      return failure satisfies never;
  }
}
