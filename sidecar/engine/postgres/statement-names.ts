/** More than a server's scripts use at a time; what falls out gets a new name when it comes again. */
const MAX_NAMES = 500;
const SEEN_KEPT = 2000;

/**
 * Names for statements that come again, the same on every connection. A text that is seen for the first time gets none:
 * preparing costs the server memory, and many texts come once.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seen = new Set<string>();
  #last = 0;

  of(text: string): string | null {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (!this.#seen.delete(text)) {
      if (this.#seen.size >= SEEN_KEPT) this.#seen.clear();
      this.#seen.add(text);
      return null;
    }
    const name = `s${++this.#last}`;
    if (this.#names.size >= MAX_NAMES) this.#forgetOldest();
    this.#names.set(text, name);
    return name;
  }

  /** The server has refused it under its name. */
  forget(text: string): void {
    this.#names.delete(text);
  }

  #forgetOldest(): void {
    const [oldest] = this.#names.keys();
    if (oldest !== undefined) this.#names.delete(oldest);
  }
}
