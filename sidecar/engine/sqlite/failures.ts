import SQLite from 'better-sqlite3';
import { ApiError, type ApiErrorCode } from '#protocol/errors.ts';
import { isFullFile } from '#sidecar/full-disk.ts';
import { DETAILS_IN_LOG } from '../log.ts';
import { duplicateMessage, faultPlace, UnusableDatabaseError } from '../model/failures.ts';
import { StaleSchemaError } from '../rows.ts';
import type { Failure } from './worker/messages.ts';

/** A failure as the caller may see it, and what it means for the connection. */
export interface Diagnosis {
  readonly failure: Failure;
  /** The connection or its file cannot be trusted: close it and open it again before the next call. */
  readonly isBroken: boolean;
  /** Advice for the owner; null if nothing is wrong with the database. */
  readonly advice: string | null;
}

const CANNOT_OPEN = 'the file cannot be opened: check that the folder exists and that the user may write there';

const DISK_FULL = 'the disk is full: free some space; writes go on by themselves then';

/** Advice by primary result code of SQLite, for codes that mean a fault of the file or its disk. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['SQLITE_FULL', DISK_FULL],
  ['SQLITE_IOERR', 'the disk cannot be read or written: check the disk and the system log; the sidecar tries again'],
  ['SQLITE_CORRUPT', 'the file is damaged: keep a copy, restore a backup or run sqlite3 FILE ".recover"'],
  ['SQLITE_NOTADB', 'the file is not a SQLite database: check database.file in sidecar.json'],
  ['SQLITE_READONLY', 'the file or its folder is read-only: give the user of the sidecar the right to write'],
  ['SQLITE_CANTOPEN', CANNOT_OPEN],
  ['SQLITE_PERM', 'the file may not be opened: check its permissions'],
  ['SQLITE_AUTH', 'the file may not be opened: check its permissions'],
  ['SQLITE_NOLFS', 'the file is too large for this disk'],
  ['SQLITE_PROTOCOL', 'another program holds the file: end it'],
]);

/** Meaning of an exception from SQLite, a job or the worker's own code. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof ApiError) return harmless(error.code, error.message, error.index);
  if (error instanceof StaleSchemaError) {
    return { failure: { kind: 'stale', namespace: error.namespace }, isBroken: false, advice: null };
  }
  if (error instanceof UnusableDatabaseError) return broken(error.message);
  if (error instanceof SQLite.SqliteError) return diagnoseSqlite(error);
  return broken(isFolderFailure(error) ? CANNOT_OPEN : 'unexpected; if it goes on, report it');
}

/** An error of the operating system (`EACCES`, `EROFS`, `ENOTDIR`), or of better-sqlite3 if the folder is missing. */
function isFolderFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return 'syscall' in error || error.message.includes('directory does not exist');
}

function diagnoseSqlite(error: InstanceType<typeof SQLite.SqliteError>): Diagnosis {
  if (isFullFile(error)) return { ...broken(DISK_FULL), failure: { ...FAILED, isDiskFull: true } };
  const primary = error.code.split('_').slice(0, 2).join('_');
  if (primary === 'SQLITE_CONSTRAINT') return harmless('constraint_violation', constraintMessage(error));
  if (primary === 'SQLITE_BUSY' || primary === 'SQLITE_LOCKED') {
    return harmless('database_timeout', 'another process holds the database; nothing was changed');
  }
  if (primary === 'SQLITE_TOOBIG') return harmless('value_too_long', 'a value is longer than the database holds');
  return broken(ADVICE.get(primary) ?? 'unexpected; if it goes on, report it');
}

function harmless(code: ApiErrorCode, message: string, index?: number): Diagnosis {
  return { failure: { kind: 'api', code, message, index }, isBroken: false, advice: null };
}

const FAILED = { kind: 'api', code: 'database_error', message: `the database failed${DETAILS_IN_LOG}` } as const;

function broken(advice: string): Diagnosis {
  return { failure: FAILED, isBroken: true, advice };
}

/**
 * SQLite names the columns: "UNIQUE constraint failed: game__characters.name". The physical prefix is removed; the text
 * never contains values.
 */
function constraintMessage(error: InstanceType<typeof SQLite.SqliteError>): string {
  const matches = error.message.matchAll(/[a-z0-9_]+__[a-z0-9_]+\.([a-z0-9_]+)/g);
  const columns = [...matches].map(([, name = '']) => name);
  if (error.code !== 'SQLITE_CONSTRAINT_NOTNULL') return duplicateMessage(columns.length === 0 ? null : columns);
  return columns.length === 0 ? 'a required value is missing' : `a required value is missing: ${columns.join(', ')}`;
}

/**
 * Text for the log. Messages of SQLite and the operating system name tables, columns and files, never values. Of other
 * errors only the place is logged, since their message may quote a value.
 */
export function describeError(error: unknown): string {
  if (error instanceof SQLite.SqliteError) return `${error.code}: ${error.message}`;
  if (error instanceof UnusableDatabaseError || isFolderFailure(error)) return `${error.name}: ${error.message}`;
  return faultPlace(error);
}
