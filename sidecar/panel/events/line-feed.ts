import type { ConsoleLine } from '../shapes/console.ts';
import { encodeGap, encodeLine } from './encode-event.ts';

/** What the feed has to know of the console. */
export interface LineSource {
  readonly lastSeq: number;
  readonly oldestSeq: number | null;
  after(seq: number, limit: number): readonly ConsoleLine[];
  onLines(listener: (batch: readonly ConsoleLine[]) => void): () => void;
}

/** Encoded lines behind one number, up to another one. */
export interface LineChunk {
  readonly to: number;
  readonly bytes: Buffer;
}

/** What one write to a stream holds at most, but for one line that is larger. */
const CHUNK_CHARS = 65_536;
/** Of chunks that all streams share; whoever is further behind has theirs encoded for them alone. */
const SHARED_BYTES = 2 ** 21;
const CATCH_UP_LINES = 500;

/**
 * The lines of the console as bytes of the event stream. A batch is encoded once, and every stream writes the same bytes:
 * what a stream has is only the number that it has come to.
 */
export class LineFeed {
  readonly #source: LineSource;
  readonly #onNew: () => void;
  readonly #stop: () => void;
  /** By the number before their first line; oldest first. */
  readonly #shared = new Map<number, LineChunk>();
  #sharedBytes = 0;
  #lastTold: number;

  constructor(source: LineSource, onNew: () => void) {
    this.#source = source;
    this.#onNew = onNew;
    this.#lastTold = source.lastSeq;
    this.#stop = source.onLines((batch) => this.#take(batch));
  }

  /** Where a stream begins that wants only what is new: a batch that is still gathered holds older lines too. */
  get newest(): number {
    return this.#source.lastSeq;
  }

  /** What a reader of `seq` gets next: lines, or the news that some are gone. Null where it has come to the end. */
  chunkAfter(seq: number): LineChunk | null {
    if (seq >= this.#lastTold) return null;
    const shared = this.#shared.get(seq);
    if (shared !== undefined) return shared;
    const oldest = this.#source.oldestSeq ?? seq + 1;
    if (oldest > seq + 1) return { to: oldest - 1, bytes: encodeGap({ from: seq + 1, to: oldest - 1 }) };
    const lines = this.#source.after(seq, CATCH_UP_LINES);
    return this.#chunksOf(lines, this.#nextShared(seq)).next().value?.chunk ?? null;
  }

  close(): void {
    this.#stop();
    this.#shared.clear();
  }

  #take(batch: readonly ConsoleLine[]): void {
    // What was there before this feed began is of no batch of its own.
    const fresh = batch.filter((line) => line.seq > this.#lastTold);
    for (const { after, chunk } of this.#chunksOf(fresh, Number.POSITIVE_INFINITY, this.#lastTold)) {
      this.#shared.set(after, chunk);
      this.#sharedBytes += chunk.bytes.length;
    }
    this.#lastTold = fresh.at(-1)?.seq ?? this.#lastTold;
    for (const [after, chunk] of this.#shared) {
      if (this.#sharedBytes <= SHARED_BYTES) break;
      this.#shared.delete(after);
      this.#sharedBytes -= chunk.bytes.length;
    }
    this.#onNew();
  }

  /** Lines up to `last`, a piece at a time. */
  *#chunksOf(
    lines: readonly ConsoleLine[],
    last: number,
    first = 0,
  ): Generator<{ after: number; chunk: LineChunk }, undefined> {
    let after = first;
    let to = first;
    let text = '';
    for (const line of lines) {
      if (line.seq > last) break;
      const encoded = encodeLine(line);
      if (text !== '' && text.length + encoded.length > CHUNK_CHARS) {
        yield { after, chunk: { to, bytes: Buffer.from(text) } };
        after = to;
        text = '';
      }
      text += encoded;
      to = line.seq;
    }
    if (text !== '') yield { after, chunk: { to, bytes: Buffer.from(text) } };
  }

  /** Whoever catches up stops where shared chunks begin, and goes on with those. */
  #nextShared(seq: number): number {
    for (const after of this.#shared.keys()) if (after > seq) return after;
    return this.#lastTold;
  }
}
