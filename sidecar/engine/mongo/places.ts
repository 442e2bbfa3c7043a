import { ApiError } from '#protocol/errors.ts';
import type { CallBounds } from '../rows.ts';

/**
 * Lets as many calls run at a time as there are connections, in the order in which they come. Else calls of several
 * statements would advance side by side, and under load all of them be late instead of the last ones.
 */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** @throws ApiError `database_timeout` where there is no place in time; `work` has not run then */
  async run<T>({ deadline }: CallBounds, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#place(deadline);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #place(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          this.#waiting.delete(take);
          reject(new ApiError('database_timeout', 'the database was busy for too long; nothing was changed'));
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.add(take);
    });
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
