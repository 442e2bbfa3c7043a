interface WaitingCheck {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Password checks that wait, in turns by source: one check of each source, then the next of each. If the line is full, the
 * source with the most checks loses its newest one, so that a flood from some addresses does not keep another one out.
 */
export class CheckLine {
  readonly #most: number;
  /** In the order of their turns. A source without waiting checks is not in it. */
  readonly #sources = new Map<string, WaitingCheck[]>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves with true at the check's turn, with false if it is refused. */
  wait(source: string): Promise<boolean> {
    return new Promise((resolve) => {
      const check = { begin: () => resolve(true), refuse: () => resolve(false) };
      const checks = this.#sources.get(source);
      if (checks === undefined) this.#sources.set(source, [check]);
      else checks.push(check);
      this.#size += 1;
      if (this.#size > this.#most) this.#refuseOne(source);
    });
  }

  /** The check whose turn it is, or null if none waits. */
  take(): WaitingCheck | null {
    for (const [source, checks] of this.#sources) {
      const [check, ...others] = checks;
      this.#sources.delete(source);
      // After the turns of all other sources.
      if (others.length > 0) this.#sources.set(source, others);
      this.#size -= 1;
      return check ?? null;
    }
    return null;
  }

  /** If several sources have the most checks, the newcomer is refused. */
  #refuseOne(newcomer: string): void {
    let longest = newcomer;
    for (const [source, checks] of this.#sources) {
      if (checks.length > this.#lengthOf(longest)) longest = source;
    }
    const checks = this.#sources.get(longest) ?? [];
    const refused = checks.pop();
    if (checks.length === 0) this.#sources.delete(longest);
    this.#size -= 1;
    refused?.refuse();
  }

  #lengthOf(source: string): number {
    return this.#sources.get(source)?.length ?? 0;
  }
}
