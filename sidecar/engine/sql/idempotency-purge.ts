import type { EngineOptions } from '../engine.ts';
import type { Session, Sessions } from './session.ts';

const PURGE_INTERVAL_MS = 30_000;
const PURGE_TIMEOUT_MS = 10_000;

/** Removes expired idempotency records now and then. A failure is tried again next time; calls tell the owner of it. */
export class IdempotencyPurge {
  readonly #timer: NodeJS.Timeout;
  #isRunning = false;

  constructor(
    sessions: Sessions,
    purgeExpired: (session: Session, now: number) => Promise<void>,
    { now, purgeIntervalMs = PURGE_INTERVAL_MS }: EngineOptions,
  ) {
    this.#timer = setInterval(() => {
      if (this.#isRunning) return;
      this.#isRunning = true;
      const bounds = { deadline: performance.now() + PURGE_TIMEOUT_MS };
      sessions
        .write(bounds, (session) => purgeExpired(session, now()))
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
