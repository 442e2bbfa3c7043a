/** Counts what happened since the last summary line. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    if (count === 0) return;
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** The counts so far, in order of name, as `joined 84, transfers 26`; starts from zero again. */
  take(): string {
    const counts = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#counts.clear();
    return counts.map(([what, count]) => `${what} ${count.toLocaleString('en')}`).join(', ') || 'nothing';
  }
}
