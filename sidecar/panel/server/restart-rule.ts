/** Panel contract, "Values": after 1 s, doubling, at most 60 s, 5 starts in any 10 minutes. */
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
const MAX_STARTS = 5;
const WINDOW_MS = 600_000;

/** Whether and when a server that has crashed is started again. Knows no clock: times are given, in milliseconds that only grow. */
export class CrashGuard {
  /** When it was last started by the guard, the newest last. */
  #starts: number[] = [];
  /** Crashes since somebody started it by hand, or since it last ran well. */
  #inARow = 0;

  /** How long to wait before the next start; null: too often, it stays down. */
  afterCrash(now: number, ranMs: number): number | null {
    if (ranMs >= WINDOW_MS) this.#inARow = 0;
    this.#starts = this.#starts.filter((at) => at > now - WINDOW_MS);
    if (this.#starts.length >= MAX_STARTS) return null;
    const waitMs = Math.min(FIRST_MS * 2 ** this.#inARow, LONGEST_MS);
    this.#inARow += 1;
    return waitMs;
  }

  noteStart(now: number): void {
    this.#starts.push(now);
  }

  /** A start by hand: somebody has looked at it. */
  clear(): void {
    this.#starts = [];
    this.#inARow = 0;
  }
}
