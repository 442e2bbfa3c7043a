import { ApiError } from '#protocol/errors.ts';
import type { Clock } from './journal/clock.ts';

interface Drain {
  readonly position: number;
  /** Attempts begun before the drain; only a later attempt was made for it. */
  readonly attempts: number;
  readonly end: (refusal: ApiError | null) => void;
}

/** Callers that wait until the queue of a namespace is applied up to a position. */
export class Drains {
  readonly #clock: Clock;
  readonly #namespace: string;
  readonly #waiting = new Set<Drain>();

  constructor(namespace: string, clock: Clock) {
    this.#namespace = namespace;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** `deadline` by the monotonic clock. @throws ApiError `write_buffer_halted` */
  wait(position: number, attempts: number, deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.setTimeout(
        () => drain.end(this.#refusal('older queued writes could not be applied in time')),
        Math.max(0, deadline - this.#clock.monotonicNow()),
      );
      const drain: Drain = {
        position,
        attempts,
        end: (refusal) => {
          cancel();
          this.#waiting.delete(drain);
          if (refusal === null) resolve();
          else reject(refusal);
        },
      };
      this.#waiting.add(drain);
    });
  }

  /** All entries up to `position` are applied or dead letters. */
  reached(position: number): void {
    for (const drain of this.#waiting) if (drain.position <= position) drain.end(null);
  }

  /** Whether a drain waits for which no attempt was made yet. */
  hasUntried(attempts: number): boolean {
    for (const drain of this.#waiting) if (drain.attempts >= attempts) return true;
    return false;
  }

  /** The attempt of that number failed and the queue has halted: refuses the drains it was made for. */
  halted(attempt: number, reason: string): void {
    for (const drain of this.#waiting) if (drain.attempts < attempt) drain.end(this.#refusal(reason));
  }

  refuseAll(reason: string): void {
    for (const drain of this.#waiting) drain.end(this.#refusal(reason));
  }

  #refusal(reason: string): ApiError {
    return new ApiError('write_buffer_halted', `namespace ${this.#namespace}: ${reason}`);
  }
}
