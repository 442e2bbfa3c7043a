/** A read from memory takes a tenth of it. */
const SUSPICIOUS_MS = 0.05;
/** The same if it is not known whether a slow read was one of the disk. */
const SUSPICIOUS_UNCOUNTED_MS = 1;
/** Time in waiting for the disk that is forgiven, as a part of all time. */
const FORGIVEN_SHARE = 0.02;
const MAX_WAITED_MS = 1;
const MIN_REST_MS = 100;
const MAX_REST_MS = 10_000;

/** Reads of this thread from a disk. */
export interface DiskReads {
  /** Whether there were some since this was asked last. */
  hasMore(): boolean;
}

/**
 * Decides whether reads may hold the API's thread. A read that waits for the disk holds every other call, so after a
 * millisecond of waiting there is a rest, in which readers do the work and so fill the system's cache. Each rest that soon
 * follows another is twice as long. Times are `performance.now()`.
 */
export class DiskPatience {
  readonly #reads: DiskReads | null;
  readonly #suspiciousMs: number;
  #waitedMs = 0;
  #waitedAtMs = 0;
  #restMs = MIN_REST_MS;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  /** @param reads null if the system does not count them */
  constructor(reads: DiskReads | null) {
    this.#reads = reads;
    this.#suspiciousMs = reads === null ? SUSPICIOUS_UNCOUNTED_MS : SUSPICIOUS_MS;
  }

  isResting(nowMs: number): boolean {
    return nowMs < this.#restUntilMs;
  }

  /** A read has ended. A busy machine makes reads slow too: only those of the disk count. */
  note(readMs: number, nowMs: number): void {
    if (readMs < this.#suspiciousMs || this.#reads?.hasMore() === false) return;
    const forgivenMs = (nowMs - this.#waitedAtMs) * FORGIVEN_SHARE;
    this.#waitedMs = Math.max(0, this.#waitedMs - forgivenMs) + readMs;
    this.#waitedAtMs = nowMs;
    if (this.#waitedMs <= MAX_WAITED_MS) return;
    const isSoon = nowMs - this.#restUntilMs < this.#restMs;
    this.#rest(isSoon ? Math.min(2 * this.#restMs, MAX_REST_MS) : MIN_REST_MS, nowMs);
  }

  /** The disk, or the file, does not answer. */
  restLong(nowMs: number): void {
    this.#rest(MAX_REST_MS, nowMs);
  }

  #rest(restMs: number, nowMs: number): void {
    this.#restMs = restMs;
    this.#restUntilMs = nowMs + restMs;
    this.#waitedMs = 0;
  }
}
