import SQLite from 'better-sqlite3';
import { isLasting } from '#engine/model/queue-units.ts';
import { IdempotencyConflictError } from '#engine/model/remembered-answer.ts';
import { type KnownRecord, outcomeOfClaim } from '#engine/model/slot-claims.ts';
import type { DeadLetter, SlotClaim } from '#engine/queues.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { CheckedRevisions, type Connection } from '../connection.ts';
import { NOW_MS_SQL } from '../dialect.ts';
import { diagnose } from '../failures.ts';
import type { ApplyAnswer, ApplyCall, QueueStep, QueueWork, Refusal } from '../worker/messages.ts';
import { needsSavepoint, runQueued } from '../write.ts';

const CLAIM = `
  INSERT INTO _idempotency (kid, namespace, key, fingerprint, result, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (kid, namespace, key) DO UPDATE
  SET fingerprint = excluded.fingerprint, result = excluded.result, expires_at = excluded.expires_at
  WHERE expires_at <= ?`;
const CLAIMED =
  'SELECT fingerprint, result, expires_at AS expiresAt FROM _idempotency WHERE kid = ? AND namespace = ? AND key = ?';
const PLACE = 'SELECT token, position FROM _journals WHERE namespace = ? AND journal = ?';
const MOVE = `UPDATE _journals SET position = ?, written_at = ${NOW_MS_SQL} WHERE namespace = ? AND journal = ?`;
const FORGET_LETTER = 'DELETE FROM _dead_letters WHERE id = ?';
const ADD_LETTER = `
  INSERT INTO _dead_letters (id, namespace, kid, op, payload, code, message, time, is_retry_wanted)
  VALUES (@id, @namespace, @kid, @op, @payload, @code, @message, @time, 0)
  ON CONFLICT (id) DO NOTHING`;

/** Refusal of an entry whose key a write with another payload has. */
const CONFLICT = refusalOf(new IdempotencyConflictError());

/** A batch and its position in one transaction; `BEGIN IMMEDIATE` keeps every other writer out until its end. */
export function applyQueue(connection: Connection, call: ApplyCall): ApplyAnswer {
  const refusals = new Map<number, Refusal>();
  for (;;) {
    const attempt = new ApplyAttempt(connection, call, refusals);
    try {
      return attempt.run();
    } catch (error) {
      const refusal = refusalOf(error);
      connection.rollBack();
      if (refusal === null || refusals.has(attempt.at))
        throw isMissing(error) ? new StaleSchemaError(call.owner.namespace) : error;
      if (call.batch.mode === 'whole') return { outcome: 'refused' };
      // A generator at its end has rolled the whole transaction back: retry without that entry.
      refusals.set(attempt.at, refusal);
    }
  }
}

class ApplyAttempt {
  readonly #connection: Connection;
  readonly #call: ApplyCall;
  readonly #refusals: ReadonlyMap<number, Refusal>;
  readonly #letters: DeadLetter[] = [];
  readonly #ended = new Set<string>();
  readonly #revisions: CheckedRevisions;
  /** Letters that this attempt retries, and whether they existed. */
  readonly #retried = new Map<string, boolean>();
  /** Index of the running step. */
  at = 0;

  /** @param refusals of earlier attempts, by step */
  constructor(connection: Connection, call: ApplyCall, refusals: ReadonlyMap<number, Refusal>) {
    this.#connection = connection;
    this.#revisions = new CheckedRevisions(connection);
    this.#call = call;
    this.#refusals = refusals;
  }

  run(): ApplyAnswer {
    const { owner, batch, first, last, knownTo } = this.#call;
    const db = this.#connection.open();
    db.exec('BEGIN IMMEDIATE');
    const applied = this.#appliedPosition();
    if (applied === null) return { outcome: 'lost' };
    if (applied > knownTo) return { outcome: 'moved' };
    if (batch.mode === 'whole') {
      if (applied >= first) return { outcome: 'refused' };
      // Entry by entry, those that are done are left out.
      if (batch.claims.some((claim) => this.#claim(claim) !== 'own')) {
        this.#connection.rollBack();
        return { outcome: 'refused' };
      }
      for (const work of batch.works) this.#runWork(work);
    } else {
      for (const [at, step] of batch.steps.entries()) if (step.position > applied) this.#runStep(step, at);
    }
    if (last > applied) this.#connection.own(MOVE).run(last, owner.namespace, owner.journal);
    db.exec('COMMIT');
    return { outcome: 'applied', letters: this.#letters };
  }

  /** Null if the place has another token. */
  #appliedPosition(): number | null {
    const { namespace, journal, token } = this.#call.owner;
    const row = this.#connection.own(PLACE).get(namespace, journal) as
      | { readonly token: number; readonly position: number }
      | undefined;
    return row?.token === token ? row.position : null;
  }

  #runStep(step: QueueStep, at: number): void {
    this.at = at;
    if (step.retried !== null && !this.#takeLetter(step.retried)) return;
    const claimed = step.claim === null ? 'own' : this.#claim(step.claim);
    if (claimed === 'done') return;
    const refusal = this.#refusals.get(at) ?? (claimed === 'own' ? this.#attempt(step.work) : CONFLICT);
    if (refusal === null) return;
    const letter = { ...step.letter, code: refusal.code, message: refusal.message, isRetryWanted: false };
    const { isRetryWanted: _, ...row } = letter;
    this.#connection.own(ADD_LETTER).run(row);
    this.#letters.push(letter);
  }

  #claim(claim: SlotClaim): ReturnType<typeof outcomeOfClaim> {
    const { kid, namespace, key, fingerprint, now, expiresAt } = claim.slot;
    const row = [kid, namespace, key, fingerprint, claim.answer, expiresAt, now];
    if (this.#connection.own(CLAIM).run(...row).changes > 0) return 'own';
    return outcomeOfClaim(claim, this.#connection.own(CLAIMED).get(kid, namespace, key) as KnownRecord);
  }

  /** An existing letter proves that the write was not done: a retry and a discard both remove it. */
  #takeLetter(id: string): boolean {
    const isThere = this.#retried.get(id) ?? this.#connection.own(FORGET_LETTER).run(id).changes > 0;
    this.#retried.set(id, isThere);
    return isThere;
  }

  #attempt(work: QueueWork | Refusal): Refusal | null {
    if (!('work' in work)) return work;
    const hasSavepoint = needsSavepoint({ work: work.work, slot: null });
    if (hasSavepoint) this.#connection.own('SAVEPOINT one').run();
    try {
      this.#runWork(work);
      if (hasSavepoint) this.#connection.own('RELEASE one').run();
      return null;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null || !this.#connection.isInTransaction) throw error;
      if (hasSavepoint) this.#connection.open().exec('ROLLBACK TO one; RELEASE one');
      return refusal;
    }
  }

  #runWork({ namespace, revision, work }: QueueWork): void {
    this.#revisions.check(namespace, revision);
    runQueued(this.#connection, work, this.#ended);
  }
}

/** Why a write can never be done; null if a later attempt may succeed. */
function refusalOf(error: unknown): Refusal | null {
  const { failure } = diagnose(error);
  if (failure.kind !== 'api') return null;
  return isLasting(new ApiError(failure.code, failure.message)) ? failure : null;
}

/** A table or column of the schema is missing: it was dropped by hand. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof SQLite.SqliteError) || error.code !== 'SQLITE_ERROR') return false;
  return /^no such (table|column)|has no column named/.test(error.message);
}
