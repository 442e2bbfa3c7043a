import { ApiError } from '../../db_connector/protocol/errors.ts';

export interface CapacityLimits {
  readonly maxPending: number;
  readonly maxJournalMegabytes: number;
}

/** Counts what is accepted and not settled yet, over all namespaces, and refuses what would be too much. */
export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #maxBytes: number;
  #writes = 0;
  #bytes = 0;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
    this.#maxBytes = limits.maxJournalMegabytes * 1024 * 1024;
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
      throw new ApiError('write_buffer_full', `${maxPending} queued writes wait already; this one was not accepted`);
    }
    if (this.#bytes + bytes > this.#maxBytes) {
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
  }
}
