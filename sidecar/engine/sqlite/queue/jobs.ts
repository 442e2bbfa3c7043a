import type { Database } from 'better-sqlite3';
import { burial, givenUp, owned } from '#engine/model/queue-ownership.ts';
import type { DeadLetter, Orphan, PastOwner, QueueOwner, QueueRow } from '#engine/queues.ts';
import type { Job, JobContext, JobRegistry } from '../worker/jobs.ts';

/** The jobs by name: what goes in and what comes out, both as structured clones. */
export interface QueueJobTypes {
  readonly 'queue.read': { input: { namespace: string }; output: QueueRow | null };
  readonly 'queue.claim': { input: { namespace: string; journal: string }; output: QueueRow };
  readonly 'queue.takeOver': { input: { namespace: string; journal: string }; output: QueueRow };
  readonly 'queue.release': { input: QueueOwner; output: null };
  readonly 'queue.letters': { input: { namespace: string | null; limit: number }; output: DeadLetter[] };
  readonly 'queue.countLetters': { input: null; output: number };
  readonly 'queue.lettersToRetry': { input: { namespace: string; limit: number }; output: DeadLetter[] };
  readonly 'queue.wantRetry': { input: { id: string }; output: boolean };
  readonly 'queue.discardLetter': { input: { id: string }; output: boolean };
  readonly 'queue.addLetters': { input: { letters: readonly DeadLetter[] }; output: null };
  readonly 'queue.bury': { input: { owner: QueueOwner; orphans: readonly Orphan[] }; output: null };
}

export type QueueJobName = keyof QueueJobTypes;

/** `queue-calls.ts` is the only caller, and its types are the same table's. */
function job<Name extends QueueJobName>(
  on: Job['on'],
  run: (db: Database, input: QueueJobTypes[Name]['input']) => QueueJobTypes[Name]['output'],
): Job {
  return { on, run: ({ db }: JobContext, input) => run(db, input as QueueJobTypes[Name]['input']) };
}

export const QUEUE_JOBS = {
  'queue.read': job<'queue.read'>('reader', (db, { namespace }) => readQueue(db, namespace)),
  'queue.claim': job<'queue.claim'>('writer', (db, { namespace, journal }) =>
    changeQueue(db, namespace, (row) => owned(row, namespace, journal, 'nobody')),
  ),
  'queue.takeOver': job<'queue.takeOver'>('writer', (db, { namespace, journal }) =>
    changeQueue(db, namespace, (row) => owned(row, namespace, journal, 'anybody')),
  ),
  'queue.release': job<'queue.release'>('writer', (db, owner) => {
    changeQueue(db, owner.namespace, (row) => row && givenUp(row, owner));
    return null;
  }),
  'queue.letters': job<'queue.letters'>('reader', (db, { namespace, limit }) =>
    namespace === null ? lettersOf(db, '', [], limit) : lettersOf(db, 'WHERE namespace = ?', [namespace], limit),
  ),
  'queue.countLetters': job<'queue.countLetters'>('reader', (db) =>
    Number(db.prepare('SELECT count(*) FROM _dead_letters').pluck().get()),
  ),
  'queue.lettersToRetry': job<'queue.lettersToRetry'>('reader', (db, { namespace, limit }) =>
    lettersOf(db, 'WHERE namespace = ? AND is_retry_wanted = 1', [namespace], limit),
  ),
  'queue.wantRetry': job<'queue.wantRetry'>(
    'writer',
    (db, { id }) => db.prepare('UPDATE _dead_letters SET is_retry_wanted = 1 WHERE id = ?').run(id).changes > 0,
  ),
  'queue.discardLetter': job<'queue.discardLetter'>(
    'writer',
    (db, { id }) => db.prepare('DELETE FROM _dead_letters WHERE id = ?').run(id).changes > 0,
  ),
  'queue.addLetters': job<'queue.addLetters'>('writer', (db, { letters }) => {
    db.transaction(() => addLetters(db, letters)).immediate();
    return null;
  }),
  'queue.bury': job<'queue.bury'>('writer', (db, { owner, orphans }) => {
    changeQueue(db, owner.namespace, (row) => {
      const { letters, row: next } = burial(row, owner, orphans);
      addLetters(db, letters);
      return next;
    });
    return null;
  }),
} satisfies JobRegistry & Record<QueueJobName, Job>;

interface StoredQueue extends Omit<QueueRow, 'past'> {
  /** JSON text. */
  readonly past: string;
}

function readQueue(db: Database, namespace: string): QueueRow | null {
  const sql = 'SELECT namespace, journal, token, position, past FROM _queues WHERE namespace = ?';
  const row = db.prepare<[string], StoredQueue>(sql).get(namespace);
  return row === undefined ? null : { ...row, past: JSON.parse(row.past) as PastOwner[] };
}

/** As given, whoever owns it now. */
export function writeQueue(db: Database, row: QueueRow): void {
  const sql = `
    INSERT OR REPLACE INTO _queues (namespace, journal, token, position, past)
    VALUES (@namespace, @journal, @token, @position, @past)`;
  db.prepare(sql).run({ ...row, past: JSON.stringify(row.past) });
}

/** Gives the row as it is after the change. */
function changeQueue<Row extends QueueRow | null>(
  db: Database,
  namespace: string,
  change: (row: QueueRow | null) => Row,
): Row {
  return db
    .transaction(() => {
      const row = readQueue(db, namespace);
      const next = change(row);
      if (next !== null && next !== row) writeQueue(db, next);
      return next;
    })
    .immediate();
}

interface LetterRow extends Omit<DeadLetter, 'isRetryWanted'> {
  readonly isRetryWanted: number;
}

function lettersOf(db: Database, where: string, params: readonly string[], limit = -1): DeadLetter[] {
  const columns = 'id, namespace, kid, op, payload, code, message, time, is_retry_wanted AS isRetryWanted';
  const sql = `SELECT ${columns} FROM _dead_letters ${where} ORDER BY time, id LIMIT ?`;
  const rows = db.prepare<(string | number)[], LetterRow>(sql).all(...params, limit);
  return rows.map((row) => ({ ...row, isRetryWanted: row.isRetryWanted !== 0 }));
}

function addLetters(db: Database, letters: readonly DeadLetter[]): void {
  const insert = db.prepare(`
    INSERT INTO _dead_letters (id, namespace, kid, op, payload, code, message, time, is_retry_wanted)
    VALUES (@id, @namespace, @kid, @op, @payload, @code, @message, @time, @isRetryWanted) ON CONFLICT (id) DO NOTHING`);
  for (const letter of letters) insert.run({ ...letter, isRetryWanted: letter.isRetryWanted ? 1 : 0 });
}
