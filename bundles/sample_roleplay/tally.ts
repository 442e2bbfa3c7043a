/** Counts what happened since the last summary line. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  /** The counts so far, in order of name, as `3 bans, 40 loads`; begins anew. */
  take(): string {
    const counts = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#counts.clear();
    return counts.map(([what, count]) => `${count.toLocaleString('en')} ${what}`).join(', ') || 'nothing';
  }
}
