import type { Result } from '../client/outcome.ts';
import type { Cancel, Timers } from '../client/timers.ts';

const SWEEP_MS = 5000;
/** Far more than can be under way at once, so only a bundle that does not collect ever comes so far. */
const MAX_UNCOLLECTED = 2048;

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
  /** The same, by caller. */
  readonly #readyOf = new Map<string | undefined, Set<string>>();
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
    this.#keepBounded(id, entry.caller);
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

  /** Drops what a caller has, ready or not. */
  forget(caller: string): void {
    for (const [id, entry] of this.#entries) {
      if (entry.caller === caller) this.#remove(id);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#ready.clear();
    this.#readyOf.clear();
    this.#stop?.();
    this.#stop = null;
  }

  /** A caller that never collects loses its own oldest results, and nobody else's. */
  #keepBounded(id: string, caller: string | undefined): void {
    const own = this.#readyOf.get(caller) ?? new Set();
    this.#readyOf.set(caller, own.add(id));
    if (own.size > MAX_UNCOLLECTED) {
      const [oldest = id] = own;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    const caller = this.#entries.get(id)?.caller;
    const own = this.#readyOf.get(caller);
    own?.delete(id);
    if (own?.size === 0) this.#readyOf.delete(caller);
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
