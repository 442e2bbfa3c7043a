interface Choice<T> {
  /** Callers that are passed over now. */
  readonly mayServe?: (caller: string) => boolean;
  readonly fits?: (item: T) => boolean;
}

const always = (): boolean => true;

/** Waiting items, taken by turns of their callers: a caller with many items delays another one by one item each time. */
export class Turns<T> implements Iterable<T> {
  /** The next caller first; no caller without items. */
  readonly #byCaller = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#byCaller.values()) yield* items;
  }

  add(caller: string, item: T): void {
    const items = this.#byCaller.get(caller);
    if (items === undefined) this.#byCaller.set(caller, new Set([item]));
    else items.add(item);
    this.#size += 1;
  }

  delete(caller: string, item: T): void {
    const items = this.#byCaller.get(caller);
    if (items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) this.#byCaller.delete(caller);
  }

  /** The oldest item that fits of the first caller that has one; the caller goes behind the others. */
  take({ mayServe = always, fits = always }: Choice<T> = {}): T | undefined {
    for (const [caller, items] of this.#byCaller) {
      if (!mayServe(caller)) continue;
      for (const item of items) {
        if (!fits(item)) continue;
        this.delete(caller, item);
        if (this.#byCaller.delete(caller)) this.#byCaller.set(caller, items);
        return item;
      }
    }
    return undefined;
  }
}
