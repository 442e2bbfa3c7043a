const QUIET_MS = 10_000;
const MAX_KINDS = 1000;

/** Keeps what happens in a quick timer from filling the console: each thing is told at most once in ten seconds. */
export class Repetitions {
  readonly #told = new Map<string, { atMs: number; untold: number }>();

  /** How often this happened since it was told, if it is to be told now; else 0. */
  count(what: string): number {
    const now = performance.now();
    const known = this.#told.get(what);
    if (known !== undefined && now - known.atMs < QUIET_MS) {
      known.untold += 1;
      return 0;
    }
    if (this.#told.size >= MAX_KINDS) this.#told.clear();
    this.#told.set(what, { atMs: now, untold: 0 });
    return 1 + (known?.untold ?? 0);
  }
}
