import { duplicateMessage, faultPlace, UnusableDatabaseError } from '../model/failures.ts';
import { FULL_DISK, type SqlFailure } from '../sql/session.ts';

/** The properties of the driver's errors that are read. */
interface ServerError extends Error {
  /** Number of the server's table of errors; absent for errors of the network. */
  readonly errno?: number;
  readonly code?: string;
  readonly sqlMessage?: string;
  readonly fatal?: boolean;
}

export const DUPLICATE_ENTRY = 1062;
/** A lock was not had in time; also a read of a Galera node that cannot wait for the writes of the others. */
export const LOCK_WAIT = 1205;
/** Errors of the guard of an insert (`compileInsert`): NULL in a key, text in a number. */
export const GUARD_FAILURES: ReadonlySet<number> = new Set([1048, 1366]);
/** Errors of a generator at its end, in addition to that of a full key. */
export const GENERATOR_AT_END: ReadonlySet<number> = new Set([167, 1264, 1467]);
/**
 * Missing tables, columns and indexes, a table that has changed since the transaction began, and a required column that
 * an insert does not name: it names all that it knows.
 */
export const UNDEFINED: ReadonlySet<number> = new Set([1051, 1054, 1072, 1109, 1136, 1146, 1176, 1364, 1412]);

/** Deadlock, lock not had in time, record changed since it was read, refused certification of a cluster. */
const CONFLICTS: ReadonlySet<number> = new Set([1020, 1205, 1213, 3101, 3572]);
/** Prepared statement gone, to be prepared again. */
const UNPREPARED: ReadonlySet<number> = new Set([1243, 1615]);
/** Killed, a time limit of the server, a sort that was ended. */
const CANCELLED: ReadonlySet<number> = new Set([1028, 1317, 1969, 3024]);
/**
 * The server hangs up or goes down; errors of the network on its side. 1180: a commit failed in the middle. A node of Galera that is
 * cut off then answers it, and the others may have the commit (seen in one of ten).
 */
const LOST: ReadonlySet<number> = new Set([
  1180, 1053, 1077, 1079, 1152, 1153, 1154, 1158, 1159, 1160, 1161, 1184, 1927, 4031,
]);

const OUT_OF_RANGE = 'a value, or the result of inc, is out of the range of its column; nothing was changed';

const REFUSED: ReadonlyMap<number, SqlFailure & { readonly kind: 'refused' }> = new Map([
  ...([1062, 1169, 1586] as const).map(
    (errno) => [errno, refused('constraint_violation', duplicateMessage(null))] as const,
  ),
  ...([1048] as const).map((errno) => [errno, refused('constraint_violation', 'a required value is missing')] as const),
  ...([1451, 1452, 1216, 1217, 3819, 4025, 1644] as const).map(
    (errno) => [errno, refused('constraint_violation', 'a constraint that was made by hand is in the way')] as const,
  ),
  ...([167, 1264, 1690] as const).map((errno) => [errno, refused('invalid_value', OUT_OF_RANGE)] as const),
  ...([1265, 1292, 1366, 1411, 1525] as const).map(
    (errno) => [errno, refused('invalid_value', 'a value does not fit its column')] as const,
  ),
  ...([1118, 1301, 1406] as const).map(
    (errno) => [errno, refused('value_too_long', 'a value is longer than the database holds')] as const,
  ),
  [1467, refused('constraint_violation', 'the generator of the primary key is at its end; nothing was inserted')],
]);

const READ_ONLY = 'the server is read-only: end its maintenance, or check that the URL names the primary server';
const DISK_FULL = 'the disk of the server is full: free some space; writes go on by themselves then';
const CONNECTIONS = 'the server has no connection left: raise max_connections, or lower database.poolSize';
const NOT_READY =
  'this node has no majority (wsrep_ready OFF): it sees too few of the other nodes, or is joining them: start the nodes that are down (docs/cluster.md)';
const RIGHTS = 'the account lacks a right: grant it all rights on its database';

/** Advice for the owner, by number: a kind for the log and what to do. */
const TROUBLES: ReadonlyMap<number, readonly [trouble: string, advice: string]> = new Map([
  [1040, ['connections', CONNECTIONS]],
  [1203, ['connections', CONNECTIONS]],
  [1226, ['connections', 'the account has used up its limits: raise them']],
  [1044, ['permission', RIGHTS]],
  [1142, ['permission', RIGHTS]],
  [1143, ['permission', RIGHTS]],
  [1227, ['permission', RIGHTS]],
  [1370, ['permission', RIGHTS]],
  [1045, ['password', 'the server refuses the account or its password: check database.url']],
  [1698, ['password', 'the server refuses the account or its password: check database.url']],
  [1862, ['password', 'the password of the account has expired: set a new one']],
  [3118, ['password', 'the account is locked']],
  [4151, ['password', 'the account is locked']],
  [1049, ['missing', 'the database does not exist: create it, or correct the name in database.url']],
  [1129, ['blocked', 'the server blocks this host after too many errors: run FLUSH HOSTS there']],
  [1130, ['password', 'the server does not let this host in: check the host of the account']],
  [1290, ['readOnly', READ_ONLY]],
  [1792, ['readOnly', READ_ONLY]],
  [1836, ['readOnly', READ_ONLY]],
  [1021, [FULL_DISK, DISK_FULL]],
  [1114, [FULL_DISK, DISK_FULL]],
  [1878, [FULL_DISK, DISK_FULL]],
  [1026, [FULL_DISK, DISK_FULL]],
  [3, [FULL_DISK, DISK_FULL]],
  [1030, ['storage', 'the storage engine failed: see the log of the server']],
  [1034, ['storage', 'a table is damaged: see the log of the server']],
  [126, ['storage', 'a table is damaged: see the log of the server']],
  [1037, ['memory', 'the server has not enough memory']],
  [1038, ['memory', 'the server has not enough memory for a sort: raise sort_buffer_size']],
  [1041, ['memory', 'the server has not enough memory']],
  [1047, ['cluster', NOT_READY]],
  [1461, ['prepared', 'the server keeps no more prepared statements: raise max_prepared_stmt_count']],
]);

function refused(
  code: (SqlFailure & { kind: 'refused' })['code'],
  message: string,
): SqlFailure & { readonly kind: 'refused' } {
  return { kind: 'refused', code, message };
}

export function errnoOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const { errno } = error as ServerError;
  // Errors of the system below have negative numbers.
  return typeof errno === 'number' && errno > 0 ? errno : null;
}

/** No server listens, or the address is wrong. */
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT', 'EACCES']);
/** Room becomes free by itself. */
const PASSING: ReadonlySet<number> = new Set([1040, 1203]);
/** This server takes no writes, or nothing at all, and another one may. */
const OF_SERVER: ReadonlySet<number> = new Set([1047, 1290, 1792, 1836]);

/** A node of Galera that is no working part of its cluster refused to read, by the error of a lock wait. */
export class NotReadyError extends Error {
  constructor() {
    super('wsrep_ready is OFF');
    this.name = 'NotReadyError';
  }
}

/** Two nodes of a cluster drew the same id at once: the next one is free. */
export class GeneratedTwiceError extends Error {
  constructor() {
    super('another node has drawn the same id');
    this.name = 'GeneratedTwiceError';
  }
}

export function classify(error: unknown): SqlFailure {
  if (error instanceof GeneratedTwiceError) return { kind: 'conflict' };
  if (error instanceof UnusableDatabaseError) return { kind: 'failed', trouble: 'unusable', advice: error.message };
  if (error instanceof NotReadyError)
    return { kind: 'failed', trouble: 'cluster', advice: NOT_READY, isOfServer: true };
  const errno = errnoOf(error);
  if (errno === null) return classifyOther(error);
  const known = REFUSED.get(errno);
  if (known !== undefined) return known;
  if (UNDEFINED.has(errno)) return { kind: 'undefined' };
  if (CONFLICTS.has(errno)) return { kind: 'conflict' };
  if (UNPREPARED.has(errno)) return { kind: 'unprepared' };
  if (CANCELLED.has(errno)) return { kind: 'cancelled' };
  if (LOST.has(errno)) return { kind: 'lost' };
  const trouble = TROUBLES.get(errno);
  if (trouble === undefined) return UNEXPECTED;
  const [name, advice] = trouble;
  return { kind: 'failed', trouble: name, advice, isPassing: PASSING.has(errno), isOfServer: OF_SERVER.has(errno) };
}

function classifyOther(error: unknown): SqlFailure {
  if (!isNetworkFault(error)) return UNEXPECTED;
  if (!UNREACHABLE.has(String((error as ServerError).code))) return { kind: 'lost' };
  const advice = 'it cannot be reached: is it running, and is database.url in sidecar.json right?';
  return { kind: 'failed', trouble: 'unreachable', advice };
}

const UNEXPECTED: SqlFailure = {
  kind: 'failed',
  trouble: 'unexpected',
  advice: 'unexpected; if it goes on, report it',
};

function isNetworkFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, fatal } = error as ServerError;
  if (fatal === true) return true;
  return typeof code === 'string' && /^(E[A-Z_]+|PROTOCOL_[A-Z_]+)$/.test(code);
}

/** Name of the key with the duplicate, as the server writes it; the value before the name may contain anything. */
export function duplicateKey(error: unknown): string | null {
  if (errnoOf(error) !== DUPLICATE_ENTRY) return null;
  const name = (error as ServerError).sqlMessage?.match(/for key '([^']*)'$/)?.[1];
  // MySQL puts the table before it.
  return name?.slice(name.lastIndexOf('.') + 1) ?? null;
}

/** For the log: numbers and names. The server's words only if they surely quote no value. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return faultPlace(error);
  if (error instanceof UnusableDatabaseError || error instanceof NotReadyError) return error.message;
  const { code, sqlMessage, message } = error as ServerError;
  const errno = errnoOf(error);
  if (errno === null) return isNetworkFault(error) ? `${code ?? 'network'}: ${message}` : faultPlace(error);
  const isTold = TROUBLES.has(errno);
  return `${errno} ${code ?? ''}${isTold ? `: ${sqlMessage ?? ''}` : ''}`;
}
