import type { ServerNews } from './channel/messages.ts';

/** Bound of the news that no sidecar has taken. */
const MAX_BYTES = 16 * 2 ** 20;
/** Sent and not taken yet: a sidecar that is slow to store them gets no more. */
const WINDOW_BYTES = 2 ** 20;
const BATCH_BYTES = 128 * 1024;
/** Beside the text of a line. */
const ENTRY_BYTES = 100;

interface Entry {
  readonly number: number;
  readonly news: ServerNews;
  readonly bytes: number;
}

export interface NewsBatch {
  readonly news: readonly ServerNews[];
  readonly isAgain: boolean;
  readonly last: number;
}

/** News of the game server that the sidecar has not stored yet, in their order. Each is kept until it is taken. */
export class NewsBacklog {
  #entries: Entry[] = [];
  /** Entries before this index were sent to the present reader. */
  #sent = 0;
  #bytes = 0;
  #sentBytes = 0;
  #lastNumber = 0;
  /** Highest number that was sent to any reader. */
  #everSent = 0;

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES;
  }

  add(news: ServerNews): void {
    this.#lastNumber += 1;
    const bytes = ENTRY_BYTES + (news.type === 'line' ? 2 * news.text.length : 0);
    this.#entries.push({ number: this.#lastNumber, news, bytes });
    this.#bytes += bytes;
  }

  /** A new reader: all that was not taken is sent again. */
  rewind(): void {
    this.#sent = 0;
    this.#sentBytes = 0;
  }

  /** Next news for the reader; null if there are none, or if it has too many already. */
  nextBatch(): NewsBatch | null {
    const first = this.#entries[this.#sent];
    if (first === undefined || this.#sentBytes >= WINDOW_BYTES) return null;
    const isAgain = first.number <= this.#everSent;
    const batch: ServerNews[] = [];
    let bytes = 0;
    let last = first.number;
    for (let at = this.#sent; at < this.#entries.length && bytes < BATCH_BYTES; at += 1) {
      const entry = this.#entries[at] as Entry;
      if (entry.number <= this.#everSent !== isAgain) break;
      batch.push(entry.news);
      bytes += entry.bytes;
      last = entry.number;
    }
    this.#sent += batch.length;
    this.#sentBytes += bytes;
    this.#everSent = Math.max(this.#everSent, last);
    return { news: batch, isAgain, last };
  }

  take(last: number): void {
    let count = 0;
    while (count < this.#sent && (this.#entries[count] as Entry).number <= last) count += 1;
    const taken = this.#entries.splice(0, count);
    const bytes = taken.reduce((sum, entry) => sum + entry.bytes, 0);
    this.#sent -= count;
    this.#bytes -= bytes;
    this.#sentBytes -= bytes;
  }

  clear(): void {
    this.#entries = [];
    this.#bytes = 0;
    this.rewind();
  }

  /** No reader will come: the oldest lines make room for new ones. The end of a run stays. */
  dropLines(): void {
    this.#entries = this.#entries.filter(({ news }) => news.type !== 'line');
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.bytes, 0);
    this.rewind();
  }
}
