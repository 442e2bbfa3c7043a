import type { ServerTiming } from '../protocol/server-timing.ts';

/** Parts of the time of a call, in milliseconds; together all of it. */
export interface TimeParts {
  /** Accepted, and waiting for one of the places in flight. */
  readonly queue: number;
  /** Between attempts: pauses and the clock. */
  readonly pauses: number;
  /** The game thread stood still while the answer may have been there. */
  readonly tick: number;
  readonly network: number;
  /** Time that the sidecar reports, without the database. Null if it reports none: then it is part of `network`. */
  readonly sidecar: number | null;
  readonly database: number | null;
}

/** Follows one call from `Call` to its result. */
export class CallTrace {
  readonly #acceptedAt: number;
  #begunAt: number | null = null;
  #attemptsMs = 0;
  #tick = 0;
  #network = 0;
  #sidecar = 0;
  #database = 0;
  #isTold = false;

  /** @param acceptedAt in the `elapsed` of the timers, as all times here */
  constructor(acceptedAt: number) {
    this.#acceptedAt = acceptedAt;
  }

  begin(now: number): void {
    this.#begunAt ??= now;
  }

  /**
   * Adds an attempt: its duration, the part of it for which the game thread stood still, and the sidecar's own figures.
   *
   * The sidecar's word is a hint: it never makes more than the attempt took. What it does not account for is the
   * thread's standing still, as far as that goes, and else the network's.
   */
  attempt(tookMs: number, stalledMs: number, told: ServerTiming | null): void {
    const total = Math.min(told?.totalMs ?? 0, tookMs);
    const database = Math.min(told?.databaseMs ?? 0, total);
    const tick = Math.min(stalledMs, tookMs - total);
    this.#attemptsMs += tookMs;
    this.#database += database;
    this.#sidecar += total - database;
    this.#tick += tick;
    this.#network += tookMs - total - tick;
    this.#isTold ||= told !== null;
  }

  tookMs(now: number): number {
    return now - this.#acceptedAt;
  }

  parts(now: number): TimeParts {
    const begunAt = this.#begunAt ?? now;
    return {
      queue: begunAt - this.#acceptedAt,
      pauses: Math.max(0, now - begunAt - this.#attemptsMs),
      tick: this.#tick,
      network: this.#network,
      sidecar: this.#isTold ? this.#sidecar : null,
      database: this.#isTold ? this.#database : null,
    };
  }
}
