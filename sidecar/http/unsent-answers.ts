const MAX_BYTES = 256 * 1024 * 1024;

/** A connection whose client has not taken all answers. */
interface Holder {
  bytes: number;
  isOpen: boolean;
  readonly close: () => void;
}

/** Answers on one connection. */
export interface UnsentOfConnection {
  add(bytes: number): void;
  /** The client has taken so many bytes. */
  taken(bytes: number): void;
  /** The connection is gone. */
  end(): void;
}

/** Bounds the answers that clients do not take, all together: beyond the bound the connection that holds most is closed. */
export class UnsentAnswers {
  readonly #maxBytes: number;
  readonly #holders = new Set<Holder>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  open(close: () => void): UnsentOfConnection {
    const holder = { bytes: 0, isOpen: true, close };
    return {
      add: (bytes) => {
        if (!holder.isOpen) return;
        this.#holders.add(holder);
        this.#count(holder, bytes);
        while (this.#bytes > this.#maxBytes) this.#closeLargest();
      },
      taken: (bytes) => {
        if (!holder.isOpen) return;
        this.#count(holder, -bytes);
        if (holder.bytes === 0) this.#holders.delete(holder);
      },
      end: () => this.#end(holder),
    };
  }

  #closeLargest(): void {
    let [largest] = this.#holders as Iterable<Holder> as [Holder];
    for (const holder of this.#holders) if (holder.bytes > largest.bytes) largest = holder;
    this.#end(largest);
    largest.close();
  }

  #end(holder: Holder): void {
    holder.isOpen = false;
    this.#count(holder, -holder.bytes);
    this.#holders.delete(holder);
  }

  #count(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.#bytes += bytes;
  }
}
