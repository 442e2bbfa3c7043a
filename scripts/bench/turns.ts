/** Resolves when a request may be sent, with the moment at which it fell due; null when there are no more. */
export type Turn = () => Promise<number> | number | null;

/** As fast as answers come, `maxRequests` times if that is given. */
export function freeTurns(maxRequests = Number.POSITIVE_INFINITY): Turn {
  let count = 0;
  return () => (count++ < maxRequests ? performance.now() : null);
}

/**
 * A request that finds no free connection at its time is late, and its lateness counts. That of this process's own clock, which
 * wakes a millisecond or more after a request fell due with a connection free, does not.
 */
export function pacedTurns(ratePerSecond: number): Turn {
  const startedAt = performance.now();
  const waiting: (() => void)[] = [];
  let [count, isTicking] = [0, false];
  const dueAt = (): number => startedAt + (count * 1000) / ratePerSecond;
  const tick = (): void => {
    while (waiting.length > 0 && dueAt() <= performance.now()) waiting.shift()?.();
    isTicking = waiting.length > 0;
    if (isTicking) setTimeout(tick, 1);
  };
  return () =>
    new Promise((resolve) => {
      const freeAt = performance.now();
      waiting.push(() => {
        resolve(freeAt <= dueAt() ? performance.now() : dueAt());
        count += 1;
      });
      if (isTicking) return;
      isTicking = true;
      setImmediate(tick);
    });
}
