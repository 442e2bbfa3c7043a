/** A turn for a single holder at a time, in the order of asking. */
export class Turn {
  #last: Promise<void> = Promise.resolve();

  /** Resolves with the function that gives the turn on. A caller that was aborted meanwhile gives it on at once. */
  async take(signal?: AbortSignal): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      signal?.throwIfAborted();
      await Promise.race([before, aborted.promise]);
      return resolve;
    } catch (error) {
      resolve();
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
