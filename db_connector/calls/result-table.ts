import type { Result } from '../client/outcome.ts';
import type { Cancel, Timers } from '../client/timers.ts';

const SWEEP_MS = 5000;

export type Taken = Result | 'pending' | 'missing';

interface Entry {
  readonly caller: string | undefined;
  result: Result | null;
  /** In the `elapsed` of the timers; counts from the moment the result is ready. */
  expiresAt: number;
}

/** Tickets and their results. A result is handed out once, to the caller that holds the ticket. */
export class ResultTable {
  readonly #timers: Timers;
  readonly #entries = new Map<string, Entry>();
  /** Ids of results that wait to be collected, the oldest first. */
  readonly #ready = new Set<string>();
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  open(id: string, caller: string | undefined): void {
    this.#entries.set(id, { caller, result: null, expiresAt: Number.POSITIVE_INFINITY });
  }

  /** Does nothing for a ticket that is gone, as after a stop. */
  settle(id: string, result: Result, lifetimeMs: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return;
    }
    entry.result = result;
    entry.expiresAt = this.#timers.elapsed() + lifetimeMs;
    this.#ready.add(id);
    this.#stop ??= this.#timers.every(SWEEP_MS, () => this.#sweep());
  }

  /** @param caller undefined where the host does not tell; then anybody with the id collects */
  take(id: string, caller: string | undefined): Taken {
    const entry = this.#entries.get(id);
    if (entry === undefined || (entry.caller !== caller && caller !== undefined && entry.caller !== undefined)) {
      return 'missing';
    }
    if (entry.result === null) {
      return 'pending';
    }
    this.#remove(id);
    return entry.expiresAt > this.#timers.elapsed() ? entry.result : 'missing';
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#ready.clear();
    this.#stop?.();
    this.#stop = null;
  }

  #remove(id: string): void {
    this.#entries.delete(id);
    this.#ready.delete(id);
  }

  /** Lifetimes differ only across a `db-reload`, so the first that is not over ends the sweep. */
  #sweep(): void {
    const now = this.#timers.elapsed();
    for (const id of this.#ready) {
      if ((this.#entries.get(id)?.expiresAt ?? 0) > now) {
        break;
      }
      this.#remove(id);
    }
    if (this.#ready.size === 0) {
      this.#stop?.();
      this.#stop = null;
    }
  }
}
