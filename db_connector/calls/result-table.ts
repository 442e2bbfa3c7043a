import { errorResult, type Result } from '../client/outcome.ts';
import type { Cancel, Timers } from '../client/timers.ts';
import { Uncollected } from './uncollected.ts';

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
  readonly #uncollected = new Uncollected();
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  open(id: string, caller: string | undefined): void {
    this.#entries.set(id, { caller, result: null, expiresAt: Number.POSITIVE_INFINITY });
  }

  /**
   * Does nothing for a ticket that is gone, as after a stop. If too much waits for the caller, the answer of a read is replaced
   * by `busy`; the outcome of a write is always kept.
   */
  settle(id: string, result: Result, lifetimeMs: number, isRead: boolean): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return;
    }
    const refusal = isRead ? this.refusalFor(entry.caller) : null;
    entry.result = refusal === null ? result : errorResult('busy', refusal);
    entry.expiresAt = this.#timers.elapsed() + lifetimeMs;
    this.#ready.add(id);
    this.#uncollected.add(entry.caller, entry.result.json.length);
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

  /** The reason if so much waits for this caller that it must collect before it calls again, else null. */
  refusalFor(caller: string | undefined): string | null {
    return this.#uncollected.refusalFor(caller);
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
    this.#uncollected.clear();
    this.#stop?.();
    this.#stop = null;
  }

  #remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.result) this.#uncollected.remove(entry.caller, entry.result.json.length);
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
