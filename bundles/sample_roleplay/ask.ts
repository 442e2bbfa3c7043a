import { setTimeout as sleep } from 'node:timers/promises';
import type { DbResult } from '../db_connector/helper.js';

/**
 * The codes that say nothing about your request itself. The database was away, or busy, or its answer was lost: the
 * request may have been carried out, or not. Every other code is final, and asking again would bring the same.
 */
const NO_ANSWER: ReadonlySet<string> = new Set([
  ...['bundle_unavailable', 'not_configured', 'unauthorized', 'bad_signature', 'bad_response', 'internal'],
  ...['network', 'unavailable', 'busy', 'rate_limited', 'timeout', 'database_timeout', 'database_error'],
  ...['internal_error', 'conflict_retry', 'sync_in_progress'],
  ...['write_buffer_full', 'write_buffer_unavailable', 'write_buffer_halted'],
]);

/** Whether the database has spoken, be it to refuse. */
export function isAnswer(code: string): boolean {
  return !NO_ANSWER.has(code);
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;

/**
 * Makes the `ask` of this bundle: it repeats a call, at growing distances, until the database has answered it, however
 * long that takes. Says so in one line when the database goes away and in one when it is back, not once a call.
 *
 * Only for calls that may be repeated. Reading may; a write may if it carries its own `idempotencyKey` (made before
 * `ask`, not inside it, or each attempt would be a new write), or if its filter cannot match a second time.
 *
 * Rejects with the signal's reason when the bundle stops.
 */
export function createAsk(log: (line: string) => void, signal: AbortSignal) {
  const outage = new Outage(log);

  return async function ask(call: () => Promise<DbResult>): Promise<DbResult> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      signal.throwIfAborted();
      const result = await unlessAborted(call(), signal);
      if (isAnswer(result.Code)) {
        outage.ends();
        return result;
      }
      outage.begins(result.Code);
      await sleep(pauseMs, undefined, { signal });
    }
  };
}

/** Not `Promise.race` with one promise for all calls: as long as that one is pending, it would keep every result in memory. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Logs one line when an outage begins and one when it ends. */
export class Outage {
  readonly #log: (line: string) => void;
  #sinceMs: number | undefined;
  #code = '';

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** The last one; empty while all is well. */
  get code(): string {
    return this.#code;
  }

  begins(code: string): void {
    this.#code = code;
    if (this.#sinceMs !== undefined) return;
    this.#sinceMs = Date.now();
    this.#log(`the database does not answer (${code}); waiting for it. See db-health`);
  }

  ends(): void {
    if (this.#sinceMs === undefined) return;
    const seconds = Math.round((Date.now() - this.#sinceMs) / 1000);
    this.#sinceMs = undefined;
    this.#code = '';
    this.#log(`the database answers again, after ${seconds} s`);
  }
}
