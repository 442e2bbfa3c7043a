import { ApiError } from '#protocol/errors.ts';
import type { EngineOptions } from '../engine.ts';
import type { IdempotencySlot, RememberedResult } from '../rows.ts';
import type { SqlDialect } from './dialect.ts';
import type { Session, Sessions } from './session.ts';

/** Another write has taken the slot, or its record expires in this very moment: nothing of this write may stay. */
export class SlotTakenError extends ApiError {
  constructor() {
    super('conflict_retry', 'another write with the same idempotencyKey was under way; repeat the call');
  }
}

/** The record of a slot; null if the slot is free. */
export async function recall(
  { quoted, placeholder, confirmRowSql }: SqlDialect,
  session: Session,
  { kid, namespace, key, now }: Pick<IdempotencySlot, 'kid' | 'namespace' | 'key' | 'now'>,
): Promise<RememberedResult | null> {
  const sql = `SELECT fingerprint, result FROM _idempotency WHERE kid = ${placeholder(1)}
    AND namespace = ${placeholder(2)} AND ${quoted('key')} = ${placeholder(3)} AND expires_at > ${placeholder(4)}${confirmRowSql}`;
  const [row] = (await session.prepared(sql, [kid, namespace, key, BigInt(now)])).rows;
  return row === undefined ? null : { fingerprint: String(row[0]), result: String(row[1]) };
}

const PURGE_INTERVAL_MS = 30_000;
const PURGE_TIMEOUT_MS = 10_000;

/** Removes expired idempotency records in intervals. The next interval retries a failure; calls report it to the owner. */
export class IdempotencyPurge {
  readonly #timer: NodeJS.Timeout;
  #isRunning = false;

  constructor(
    sessions: Sessions,
    purgeExpired: (session: Session, now: number) => Promise<void>,
    { now, expiryNow = now, purgeIntervalMs = PURGE_INTERVAL_MS }: EngineOptions,
  ) {
    this.#timer = setInterval(() => {
      if (this.#isRunning) return;
      this.#isRunning = true;
      const bounds = { deadline: performance.now() + PURGE_TIMEOUT_MS };
      sessions
        .write(bounds, (session) => purgeExpired(session, expiryNow()))
        .catch(() => {})
        .finally(() => {
          this.#isRunning = false;
        });
    }, purgeIntervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
