/** Settles as `work` does, or resolves with `late` after `ms`. The work goes on; its later failure is no unhandled rejection. */
export async function orLate<T, L>(work: Promise<T>, ms: number, late: L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<L>();
  const timer = setTimeout(resolve, Math.max(0, ms), late);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
