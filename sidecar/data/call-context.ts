import type { SharedNonce } from '../engine/cluster/cluster-calls.ts';

/** Facts about a call beside its payload, for handlers. */
export interface CallContext {
  /** The payload's JSON text as it was signed: a write that is queued is kept so. */
  readonly text: string;
  /** The key that signed the request; idempotency keys are remembered under it. */
  readonly kid: string;
  readonly allowUnfilteredWrites: boolean;
  /** `performance.now()` milliseconds by which the answer is due. */
  readonly deadline: number;
  /** Epoch milliseconds at which the call began. */
  readonly now: number;
  /** Epoch milliseconds by which idempotency records have expired; default `now`. */
  readonly expiryNow?: number;
  readonly timing: CallTiming;
  /** Recorded with a write that has no idempotency key; absent if no other sidecar accepts the request. */
  readonly sharedNonce?: SharedNonce | null;
}

/** Times of one call, for `Server-Timing`. */
export class CallTiming {
  /** Milliseconds spent in waiting for the database. */
  databaseMs = 0;

  async database<T>(work: () => Promise<T>): Promise<T> {
    const begunAt = performance.now();
    try {
      return await work();
    } finally {
      this.databaseMs += performance.now() - begunAt;
    }
  }
}

/** Time that a drain leaves at most for the call's own work. */
const MAX_RESERVE_MS = 5000;

/** Deadline for the drain of older queued writes: a quarter of the call's time, at most 5 s, is left for its own work. */
export function drainDeadline({ deadline }: { readonly deadline: number }): number {
  return deadline - Math.min(MAX_RESERVE_MS, Math.max(0, deadline - performance.now()) / 4);
}
