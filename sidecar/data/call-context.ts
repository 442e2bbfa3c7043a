/** What a handler knows of its call beside the payload. */
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
  readonly timing: CallTiming;
}

/** Where the time of one call goes, for `Server-Timing`. */
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
