const FIRST_ROOM = 1024;

/**
 * The first line of each key of a file. A key is 64 bits of its SHA-256, so that one of any length takes the same room: 12 bytes
 * of a table that is at most half full, which a `Map` would need six times.
 */
export class FirstLines {
  #digests = new BigUint64Array(FIRST_ROOM);
  /** 0: the place is free. */
  #lines = new Uint32Array(FIRST_ROOM);
  #size = 0;

  /** Remembers the line if it is the first with this key; returns an earlier one otherwise. @param line from 1 */
  earlier(digest: bigint, line: number): number | null {
    if (2 * this.#size >= this.#lines.length) this.#grow();
    const place = this.#placeOf(digest);
    const found = this.#lines[place] as number;
    if (found !== 0) return found;
    this.#put(place, digest, line);
    this.#size += 1;
    return null;
  }

  /** Place of the key, or a free one for it. */
  #placeOf(digest: bigint): number {
    const last = this.#lines.length - 1;
    let place = Number(digest & BigInt(last));
    while (this.#lines[place] !== 0 && this.#digests[place] !== digest) place = (place + 1) & last;
    return place;
  }

  #put(place: number, digest: bigint, line: number): void {
    this.#digests[place] = digest;
    this.#lines[place] = line;
  }

  #grow(): void {
    const [digests, lines] = [this.#digests, this.#lines];
    this.#digests = new BigUint64Array(2 * lines.length);
    this.#lines = new Uint32Array(2 * lines.length);
    for (const [place, line] of lines.entries()) {
      const digest = digests[place] as bigint;
      if (line !== 0) this.#put(this.#placeOf(digest), digest, line);
    }
  }
}
