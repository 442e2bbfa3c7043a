import type { ConsoleLine } from '../shapes/console.ts';
import { encodeGap, encodeLine } from './encode-event.ts';

/** The console, as the feed sees it. */
export interface LineSource {
  readonly lastSeq: number;
  readonly oldestSeq: number | null;
  after(seq: number, limit: number): readonly ConsoleLine[];
  onLines(listener: (batch: readonly ConsoleLine[]) => void): () => void;
}

/** Encoded lines after one number, up to another. */
export interface LineChunk {
  readonly to: number;
  readonly bytes: Buffer;
}

/** Bound of one write to a stream; a single larger line is written whole. */
const CHUNK_CHARS = 65_536;
/** Bound of the chunks that all streams share; chunks for a slower stream are encoded for it alone. */
const SHARED_BYTES = 2 ** 21;
const CATCH_UP_LINES = 500;

/**
 * The console's lines as bytes of the event stream. A batch is encoded once, and every stream writes the same bytes; a stream
 * itself stores only the number of its last line.
 */
export class LineFeed {
  readonly #source: LineSource;
  readonly #onNew: () => void;
  readonly #stop: () => void;
  /** Keyed by the number before the first line; oldest first. */
  readonly #shared = new Map<number, LineChunk>();
  #sharedBytes = 0;
  #lastTold: number;

  constructor(source: LineSource, onNew: () => void) {
    this.#source = source;
    this.#onNew = onNew;
    this.#lastTold = source.lastSeq;
    this.#stop = source.onLines((batch) => this.#take(batch));
  }

  /** Start of a stream that wants only new lines: a batch that is still gathered holds older lines too. */
  get newest(): number {
    return this.#source.lastSeq;
  }

  /** Next chunk after `seq`: lines, or a gap for lines that are gone. null at the end. */
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
    // Lines from before this feed belong to no batch of its own.
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

  /** Lines up to `last`, in pieces. */
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

  /** A reader that catches up stops where shared chunks begin, and continues with those. */
  #nextShared(seq: number): number {
    for (const after of this.#shared.keys()) if (after > seq) return after;
    return this.#lastTold;
  }
}
