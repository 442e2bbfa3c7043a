import { ApiError } from '#protocol/errors.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { PendingEntry } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';

/** Share of each limit at which a full queue has room again. */
const ROOM_AGAIN = 0.5;
/** A queue that is full, has room and is full again in a second is one story. */
const QUIET_MS = 60_000;
/** Limits of the entries that stay in memory as they were compiled. */
const MAX_KEPT_ENTRIES = 100_000;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Entries that are no longer pending, and their outcome. */
interface Settlement {
  readonly entries: readonly (PendingEntry & { readonly compiled: unknown })[];
  readonly applied: number;
  readonly deadLettered: number;
  /** Duration of the batch that applied them; null if none did. */
  readonly batchMs: number | null;
}

/** All namespaces together: accepted writes that are not settled, within their limits, and counters since the start. */
export class Totals {
  readonly #world: Pick<QueueWorld, 'clock' | 'config' | 'log'>;
  readonly #maxBytes: number;
  #writes = 0;
  #bytes = 0;
  #keptEntries = 0;
  #keptBytes = 0;
  #isFull = false;
  #isTold = false;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #applied = 0;
  #deadLettered = 0;
  #batches = 0;
  #lastBatchEntries = 0;
  #lastBatchMs = 0;

  constructor(world: Pick<QueueWorld, 'clock' | 'config' | 'log'>) {
    this.#world = world;
    this.#maxBytes = world.config.maxJournalMegabytes * 1024 * 1024;
  }

  get writes(): number {
    return this.#writes;
  }

  get figures() {
    return {
      pending: this.#writes,
      pendingBytes: this.#bytes,
      applied: this.#applied,
      deadLettered: this.#deadLettered,
      batches: this.#batches,
      lastBatchEntries: this.#lastBatchEntries,
      lastBatchMs: this.#lastBatchMs,
    };
  }

  /** @throws ApiError `write_buffer_full`; then nothing is counted. */
  take(bytes: number): void {
    const { maxPending, maxJournalMegabytes } = this.#world.config;
    if (this.#writes >= maxPending) {
      this.#tellFull('maxPending');
      throw new ApiError('write_buffer_full', `${maxPending} queued writes wait already; this one was not accepted`);
    }
    if (this.#bytes + bytes > this.#maxBytes) {
      this.#tellFull('maxJournalMegabytes');
      throw new ApiError(
        'write_buffer_full',
        `the queued writes would be more than ${maxJournalMegabytes} MiB; this one was not accepted`,
      );
    }
    this.#writes += 1;
    this.#bytes += bytes;
  }

  /** Counts a write of the journal, limit or not. */
  restore(bytes: number): void {
    this.#writes += 1;
    this.#bytes += bytes;
  }

  /** A write that was counted was not accepted. */
  giveBack(bytes: number): void {
    this.#free(1, bytes);
  }

  /** Whether there is memory for an entry as it was compiled: the oldest ones stay, as they are applied first. */
  keep(bytes: number): boolean {
    if (this.#keptEntries >= MAX_KEPT_ENTRIES || this.#keptBytes + bytes > MAX_KEPT_BYTES) return false;
    this.#keptEntries += 1;
    this.#keptBytes += bytes;
    return true;
  }

  settle({ entries, applied, deadLettered, batchMs }: Settlement): void {
    let freed = 0;
    for (const { bytes, compiled } of entries) {
      freed += bytes;
      if (compiled === null) continue;
      this.#keptEntries -= 1;
      this.#keptBytes -= bytes;
    }
    this.#applied += applied;
    this.#deadLettered += deadLettered;
    if (batchMs !== null) {
      this.#batches += 1;
      this.#lastBatchEntries = entries.length;
      this.#lastBatchMs = batchMs;
    }
    this.#free(entries.length, freed);
  }

  #free(writes: number, bytes: number): void {
    this.#writes -= writes;
    this.#bytes -= bytes;
    const { maxPending } = this.#world.config;
    if (!this.#isFull || this.#writes > maxPending * ROOM_AGAIN || this.#bytes > this.#maxBytes * ROOM_AGAIN) return;
    this.#isFull = false;
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#world.log('info', 'there is room again for queued writes', { event: LOG_EVENT.recovered });
  }

  /** At most once a minute, and not again before there was room. */
  #tellFull(limit: string): void {
    this.#isFull = true;
    const { config, clock, log } = this.#world;
    const nowMs = clock.monotonicNow();
    if (this.#isTold || nowMs - this.#toldAtMs < QUIET_MS) return;
    this.#isTold = true;
    this.#toldAtMs = nowMs;
    log(
      'error',
      `as many queued writes wait as ${limit} allows: more are refused until the database has taken some; see that it runs ` +
        'and is quick enough, or raise the limit',
      { maxPending: config.maxPending, maxJournalMegabytes: config.maxJournalMegabytes },
    );
  }
}
