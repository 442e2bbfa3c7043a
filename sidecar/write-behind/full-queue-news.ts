import type { EngineLog } from '../engine/log.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { CapacityLimits, CapacityListener } from './capacity.ts';
import type { Clock } from './journal/clock.ts';

/** A queue that is full, has room and is full again in a second is one story. */
const QUIET_MS = 60_000;

interface FullQueueOptions {
  readonly config: CapacityLimits;
  readonly clock: Clock;
  readonly log: EngineLog;
}

/** Tells the owner when the queue is full and when it no longer is; each at most once a minute. */
export class FullQueueNews implements CapacityListener {
  readonly #options: FullQueueOptions;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isTold = false;

  constructor(options: FullQueueOptions) {
    this.#options = options;
  }

  full(limit: string): void {
    const { config, clock, log } = this.#options;
    const now = clock.monotonicNow();
    if (this.#isTold || now - this.#toldAt < QUIET_MS) return;
    this.#isTold = true;
    this.#toldAt = now;
    log(
      'error',
      `as many queued writes wait as ${limit} allows: more are refused until the database has taken some; see that it runs ` +
        'and is quick enough, or raise the limit',
      { maxPending: config.maxPending, maxJournalMegabytes: config.maxJournalMegabytes },
    );
  }

  room(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#options.log('info', 'there is room again for queued writes', { event: LOG_EVENT.recovered });
  }
}
