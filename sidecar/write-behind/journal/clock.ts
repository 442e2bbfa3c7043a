/** Source of time for write-behind, so that a simulation can have its own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds from any start; never goes back. */
  monotonicNow(): number;
  /** Returns a function that cancels. The timer keeps no process alive. */
  setTimeout(run: () => void, ms: number): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (run, ms) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A wait that can be cut short. At most one at a time. */
export class Pause {
  readonly #clock: Clock;
  #end: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Infinity waits for `wake` alone. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === Number.POSITIVE_INFINITY ? () => {} : this.#clock.setTimeout(() => this.wake(), ms);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  wake(): void {
    const end = this.#end;
    this.#end = null;
    end?.();
  }
}
