import type { DbResult } from './result.ts';

/** Limit of a bundle (contract section 11). */
const MAX_WAITING = 10_000;
/** Between attempts while no call of the bundle comes back: others hold the places then. Each attempt costs the game's thread. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/** A call that the connector is asked to take. */
export interface Call {
  readonly connector: string;
  readonly operation: string;
  readonly json: string;
  /** Never throws. */
  readonly deliver: (result: DbResult) => void;
}

/** Calls for which the connector had no place, in the order in which they came, and when to ask for one again. */
export class WaitingCalls {
  #calls: (Call | undefined)[] = [];
  /** Calls before this place have gone out; they are cut off from time to time. */
  #gone = 0;
  #dueAt = 0;
  #pauseMs = FIRST_PAUSE_MS;

  get size(): number {
    return this.#calls.length - this.#gone;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** False where too many wait already. */
  add(call: Call): boolean {
    if (this.size >= MAX_WAITING) return false;
    this.#calls.push(call);
    return true;
  }

  first(): Call | undefined {
    return this.#calls[this.#gone];
  }

  removeFirst(): void {
    this.#calls[this.#gone] = undefined;
    this.#gone += 1;
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#gone * 2 < this.#calls.length) return;
    this.#calls = this.#calls.slice(this.#gone);
    this.#gone = 0;
  }

  isDue(now: number): boolean {
    return !this.isEmpty && now >= this.#dueAt;
  }

  postpone(now: number): void {
    this.#dueAt = now + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** A call has come back, or a bundle has changed: it is worth asking at the next tick. */
  expectPlace(): void {
    this.#dueAt = 0;
  }
}
