import type { Result } from '../client/outcome.ts';
import type { Cancel, Timers } from '../client/timers.ts';

const SWEEP_MS = 5000;
/** Results of one caller that wait. Many more than can be under way at once, so only who does not collect comes so far. */
export const MAX_UNCOLLECTED = 10_000;

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
    this.#readyOf.set(entry.caller, (this.#readyOf.get(entry.caller) ?? new Set()).add(id));
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

  /** Whether so many results wait for this caller that it must collect some before it calls again. */
  isFullFor(caller: string | undefined): boolean {
    return (this.#readyOf.get(caller)?.size ?? 0) >= MAX_UNCOLLECTED;
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
