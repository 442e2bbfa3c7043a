/**
 * Lets things move freely, until somebody wants to count them. One for money, and one for statistics.
 *
 * An audit reads thousands of rows, page after page. If a transfer ran in between, it could be seen on one side only.
 * So whatever moves money goes through `move`, and the audit through `still`, which waits for what is under way and
 * holds back what comes.
 */
export class Gate {
  readonly #moving = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  async move<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#closed;
    const running = work();
    this.#moving.add(running);
    try {
      return await running;
    } finally {
      this.#moving.delete(running);
    }
  }

  async still<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#closed;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = promise;
    try {
      await Promise.allSettled(this.#moving);
      return await work();
    } finally {
      this.#closed = undefined;
      resolve();
    }
  }
}
