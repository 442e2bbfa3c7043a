import type { Timers } from '../client/timers.ts';
import type { Say } from '../config/say.ts';
import type { CheckedCall } from './call-checks.ts';

const QUIET_MS = 10_000;

/** One console line for calls slower than `slowCallMs`, at most one in ten seconds; the rest are counted in the next. */
export class SlowCalls {
  readonly #timers: Timers;
  readonly #log: Say;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(timers: Timers, log: Say) {
    this.#timers = timers;
    this.#log = log;
  }

  /** @param slowCallMs 0: nothing is slow
   * @param tookMs from Call to the result, waiting included */
  note(call: CheckedCall, tookMs: number, slowCallMs: number): void {
    if (slowCallMs === 0 || tookMs <= slowCallMs) {
      return;
    }
    const now = this.#timers.elapsed();
    if (now - this.#lastLineAt < QUIET_MS) {
      this.#unsaid += 1;
      return;
    }
    const more = this.#unsaid === 0 ? '' : ` (and ${this.#unsaid} more since the last such line)`;
    this.#log(`slow call: ${nameOf(call)} took ${Math.round(tookMs)} ms${more}`, 'warning');
    this.#lastLineAt = now;
    this.#unsaid = 0;
  }
}

function nameOf({ operation, namespace, table }: CheckedCall): string {
  if (namespace === null) {
    return operation;
  }
  return table === null ? `${operation} ${namespace}` : `${operation} ${namespace}.${table}`;
}
