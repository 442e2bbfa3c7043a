/** A list that grows at its end and is cut at its start. What is in it keeps its number (`start` to `end - 1`) for ever. */
export class Tail<Item> {
  #items: Item[] = [];
  #cut = 0;
  #start = 0;

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#start + this.#items.length - this.#cut;
  }

  get length(): number {
    return this.#items.length - this.#cut;
  }

  at(number: number): Item | undefined {
    return number < this.#start ? undefined : this.#items[number - this.#start + this.#cut];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Forgets everything before this number. */
  cutBefore(number: number): void {
    const count = Math.min(Math.max(0, number - this.#start), this.length);
    this.#cut += count;
    this.#start += count;
    // The array is copied seldom: once its forgotten part is as large as the rest.
    if (this.#cut > 1024 && this.#cut > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#cut);
      this.#cut = 0;
    }
  }

  /** The first number whose item is at or beyond what is looked for; `end` where there is none. Items are in order. */
  search(isBeyond: (item: Item) => boolean): number {
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isBeyond(this.at(middle) as Item)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
