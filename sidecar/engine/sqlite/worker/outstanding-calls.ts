import type { PendingCall } from './pending-call.ts';

export interface OutstandingCall {
  readonly sequence: number;
  readonly pending: PendingCall;
  /** The caller has its answer already. */
  isGivenUp: boolean;
}

/** Calls that a worker has and has not answered. */
export class OutstandingCalls {
  readonly #calls = new Map<number, OutstandingCall>();

  get size(): number {
    return this.#calls.size;
  }

  add(sequence: number, pending: PendingCall): void {
    this.#calls.set(sequence, { sequence, pending, isGivenUp: false });
  }

  get(sequence: number): OutstandingCall | undefined {
    return this.#calls.get(sequence);
  }

  take(sequence: number): OutstandingCall | undefined {
    const call = this.#calls.get(sequence);
    this.#calls.delete(sequence);
    return call;
  }

  takeAll(): OutstandingCall[] {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    return calls;
  }

  /** Takes all calls whose callers still wait, except one. */
  takeLive(except: number): PendingCall[] {
    const live = this.#live().filter(({ sequence }) => sequence !== except);
    for (const { sequence } of live) this.#calls.delete(sequence);
    return live.map(({ pending }) => pending);
  }

  /** Marks the calls whose deadline is not after `endMs` as given up; returns the newly marked ones. */
  giveUp(endMs: number): OutstandingCall[] {
    const over = this.#live().filter(({ pending }) => pending.deadline <= endMs);
    for (const call of over) call.isGivenUp = true;
    return over;
  }

  /** Whether a call with a deadline not after `endMs` was given up. */
  hasGivenUp(endMs = Number.POSITIVE_INFINITY): boolean {
    for (const { pending, isGivenUp } of this.#calls.values()) if (isGivenUp && pending.deadline <= endMs) return true;
    return false;
  }

  /** Latest deadline of a caller that still waits; 0 for none. */
  get lastDeadline(): number {
    return this.#live().reduce((last, { pending }) => Math.max(last, pending.deadline), 0);
  }

  #live(): OutstandingCall[] {
    return [...this.#calls.values()].filter(({ isGivenUp }) => !isGivenUp);
  }
}
