import type { Clock } from './journal/clock.ts';

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
