import pg from 'pg';
import { duplicateMessage, faultPlace, UnusableDatabaseError } from '../model/failures.ts';
import { FULL_DISK, type SqlFailure } from '../sql/session.ts';
import { COLUMNS } from './dialect.ts';

const REFUSED: ReadonlyMap<string, SqlFailure> = new Map(
  (
    [
      ['22001', 'value_too_long', 'a value is longer than its column holds'],
      ['54000', 'value_too_long', 'a value is longer than the database holds'],
      ['22003', 'invalid_value', 'inc: the result is out of the range of its column; nothing was changed'],
      ['2200H', 'constraint_violation', 'the generator of the primary key is at its end; nothing was inserted'],
      ['23502', 'constraint_violation', 'a required value is missing'],
      ['23001', 'constraint_violation', 'a row that others refer to'],
      ['23503', 'constraint_violation', 'a row that others refer to, or one that is not there'],
      ['23514', 'constraint_violation', 'a value breaks a rule of the table'],
      ['23P01', 'constraint_violation', duplicateMessage(null)],
      ['P0001', 'constraint_violation', 'a rule that was made by hand is in the way'],
    ] as const
  ).map(([state, code, message]) => [state, { kind: 'refused', code, message }]),
);

const UNIQUE_VIOLATION = '23505';

/** The statement was written for another schema: names that are gone, and types that no longer fit. */
const UNDEFINED: ReadonlySet<string> = new Set(['42P01', '42703', '42704', '42P10', '42883', '42804', '3F000']);
const CONFLICT: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const UNPREPARED: ReadonlySet<string> = new Set(['26000', '42P05']);
const CANCELLED = '57014';
/** The server reports the end of the session in the middle of a statement. */
const LOST: ReadonlySet<string> = new Set(['57P01', '57P02', '57P04', '57P05', '25P03', '25P04']);

/** No server listens, or the address is wrong. */
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT', 'EACCES']);
/** Room and readiness come back by themselves. */
const PASSING: ReadonlySet<string> = new Set(['53300', '57P03']);
/** A standby, or a server that is set read-only. */
const READ_ONLY = '25006';

const CHECK_LOG = 'see the log of the database server';

/** Advice for the owner, by SQLSTATE. */
const ADVICE: ReadonlyMap<string, readonly [trouble: string, advice: string]> = new Map([
  ['28P01', ['password', 'the account or password is wrong: check database.url in sidecar.json']],
  ['28000', ['password', 'the server does not let the account in: check database.url and pg_hba.conf']],
  ['3D000', ['missing', 'there is no database of that name: create it, or check database.url in sidecar.json']],
  ['53300', ['connections', 'the server takes no more connections: raise max_connections or lower database.poolSize']],
  ['57P03', ['starting', 'the server is starting or stopping; the sidecar tries again']],
  [
    READ_ONLY,
    [
      'readOnly',
      'the server takes no writes: it is read-only or a standby: start the primary, or promote the standby (docs/cluster.md)',
    ],
  ],
  ['53100', [FULL_DISK, 'the disk of the server is full: free some space; writes go on by themselves then']],
  ['53200', ['memory', `the server is out of memory: ${CHECK_LOG}`]],
  ['42501', ['permission', 'the account lacks a right: make it the owner of the database']],
  ['58030', ['storage', `the server cannot read or write its disk: ${CHECK_LOG}`]],
  ['XX001', ['damaged', `the database is damaged: ${CHECK_LOG}, restore a backup`]],
  ['XX002', ['damaged', 'an index is damaged: run REINDEX']],
]);

export function sqlState(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

export function classify(error: unknown): SqlFailure {
  if (error instanceof UnusableDatabaseError) return { kind: 'failed', trouble: 'unusable', advice: error.message };
  if (!(error instanceof pg.DatabaseError)) return classifyOther(error);
  const state = error.code ?? '';
  if (state === UNIQUE_VIOLATION) {
    return { kind: 'refused', code: 'constraint_violation', message: uniqueMessage(error) };
  }
  if (UNDEFINED.has(state)) return { kind: 'undefined' };
  if (CONFLICT.has(state)) return { kind: 'conflict' };
  if (isUnprepared(error)) return { kind: 'unprepared' };
  if (state === CANCELLED) return { kind: 'cancelled' };
  if (LOST.has(state) || state.startsWith('08')) return { kind: 'lost' };
  const [trouble, advice] = ADVICE.get(state) ?? ['unexpected', `unexpected; if it goes on, ${CHECK_LOG}`];
  const isOfServer = state === READ_ONLY;
  return REFUSED.get(state) ?? { kind: 'failed', trouble, advice, isPassing: PASSING.has(state), isOfServer };
}

function classifyOther(error: unknown): SqlFailure {
  if (!isOfConnection(error)) {
    return { kind: 'failed', trouble: 'unexpected', advice: 'unexpected; if it goes on, report it' };
  }
  if (!('code' in error && UNREACHABLE.has(String(error.code)))) return { kind: 'lost' };
  const advice = 'it cannot be reached: is it running, and is database.url in sidecar.json right?';
  return { kind: 'failed', trouble: 'unreachable', advice };
}

/** A prepared statement that the server, or a pooler before it, does not know or can no longer use. It did not run. */
export function isUnprepared(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  if (UNPREPARED.has(error.code ?? '')) return true;
  return error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

/** An error of the system below (`ECONNREFUSED`), or of pg, whose own errors about connections have no code. */
function isOfConnection(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if ('syscall' in error || 'code' in error) return true;
  return /^(Connection terminated|Client (was closed|has encountered)|timeout expired|The server does not|There was an error)/.test(
    error.message,
  );
}

const KEY_OF_DETAIL = /\(("?[a-z0-9_]+"?(?:, "?[a-z0-9_]+"?)*)\)=\(/;

/** The server names the columns before the values, in whatever language it speaks: `Key (name)=(x) already exists.` */
function uniqueMessage({ detail }: pg.DatabaseError): string {
  const columns = KEY_OF_DETAIL.exec(detail ?? '')?.[1]
    ?.replaceAll('"', '')
    .split(', ')
    .map(COLUMNS.declared);
  return duplicateMessage(columns ?? null);
}

/** For the log: what the server and the system say, but for errors about data, whose messages quote it. */
export function describe(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? '';
    return state.startsWith('22') || state.startsWith('23') ? state : `${state}: ${error.message}`;
  }
  return isOfConnection(error) ? error.message : faultPlace(error);
}
