import { ApiError } from '#protocol/errors.ts';
import type { EngineLog } from '../engine/log.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { Clock } from './journal/clock.ts';

interface CapacityLimits {
  readonly maxPending: number;
  readonly maxJournalMegabytes: number;
}

interface CapacityListener {
  /** At each refusal. */
  full(limit: string): void;
  /** So much has been applied since the last one that it is no longer full. */
  room(): void;
}

/** Of each limit. */
const ROOM_AGAIN = 0.5;

/** Counts what is accepted and not settled yet, over all namespaces, and refuses what would be too much. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #maxBytes: number;
  readonly #listener: CapacityListener;
  #writes = 0;
  #bytes = 0;
  #isFull = false;

  constructor(limits: CapacityLimits, listener: CapacityListener) {
    this.#limits = limits;
    this.#maxBytes = limits.maxJournalMegabytes * 1024 * 1024;
    this.#listener = listener;
  }

  get writes(): number {
    return this.#writes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws ApiError `write_buffer_full`; then nothing is counted. */
  take(bytes: number): void {
    const { maxPending, maxJournalMegabytes } = this.#limits;
    if (this.#writes >= maxPending) {
      this.#fills('maxPending');
      throw new ApiError('write_buffer_full', `${maxPending} queued writes wait already; this one was not accepted`);
    }
    if (this.#bytes + bytes > this.#maxBytes) {
      this.#fills('maxJournalMegabytes');
      throw new ApiError(
        'write_buffer_full',
        `the queued writes would be more than ${maxJournalMegabytes} MiB; this one was not accepted`,
      );
    }
    this.add(bytes);
  }

  /** What the journal holds already counts, limit or not. */
  add(bytes: number): void {
    this.#writes += 1;
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#writes -= 1;
    this.#bytes -= bytes;
    const { maxPending } = this.#limits;
    if (!this.#isFull || this.#writes > maxPending * ROOM_AGAIN || this.#bytes > this.#maxBytes * ROOM_AGAIN) return;
    this.#isFull = false;
    this.#listener.room();
  }

  #fills(limit: string): void {
    this.#isFull = true;
    this.#listener.full(limit);
  }
}

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
