import { cleanLine, formatLine, type LogLine } from './line-text.ts';
import type { LogFolder, LogNames, Retention } from './log-folder.ts';
import { LogWriter } from './log-writer.ts';
import { type LineLogParts, openParts } from './open-parts.ts';
import { linesBefore } from './read-lines.ts';
import type { Sequence } from './sequence.ts';

export interface LineLogOptions {
  readonly folder: string;
  readonly maxLines: number;
  readonly maxChars: number;
  readonly maxFileBytes: number;
  /** Read at each sweep, since the room of a log can depend on the limits of others. */
  readonly retention: () => Retention;
  readonly now: () => number;
  readonly onTrouble: (message: string) => void;
}

/** Time in which lines are gathered into one batch for listeners; too short to be seen. */
const BATCH_MS = 25;
const SWEEP_MS = 3_600_000;
const PIECE = 500;
/** Room for more than a thousand of the longest lines. */
const PAGE_CHARS = 17_000_000;

/** Log of numbered lines: the latest in memory, all in files with a retention, and listeners for new lines. */
export class LineLog<Stream extends string> {
  readonly folder: LogFolder;
  readonly #options: LineLogOptions;
  readonly #ring: LineLogParts<Stream>['ring'];
  readonly #sequence: Sequence;
  readonly #names: LogNames;
  readonly #writer: LogWriter;
  readonly #listeners = new Set<(batch: readonly LogLine<Stream>[]) => void>();
  readonly #sweeping: NodeJS.Timeout;
  #batch: LogLine<Stream>[] = [];
  #timer: NodeJS.Timeout | null = null;
  #current: string | null = null;
  #currentBytes = 0;
  #sweep: Promise<void> = Promise.resolve();

  static async open<Stream extends string>(options: LineLogOptions): Promise<LineLog<Stream>> {
    return new LineLog(options, await openParts<Stream>(options));
  }

  private constructor(options: LineLogOptions, parts: LineLogParts<Stream>) {
    this.#options = options;
    this.folder = parts.folder;
    this.#ring = parts.ring;
    this.#sequence = parts.sequence;
    this.#names = parts.names;
    this.#writer = new LogWriter(options.folder, options.onTrouble);
    this.#sweeping = setInterval(() => this.#beginSweep(), SWEEP_MS);
    this.#sweeping.unref();
    this.#beginSweep();
  }

  /** The last number in use; 0 before the first. */
  get lastSeq(): number {
    return this.#sequence.last;
  }

  get oldestSeq(): number | null {
    return this.#ring.oldestSeq;
  }

  /** File of the current or last run; null before the first run of this process. */
  get current(): string | null {
    return this.#current;
  }

  /** Begins a new file for the lines that follow. */
  beginRun(): void {
    this.#turnTo(this.#names.ofRun(this.#options.now()));
  }

  /** @param time default: now */
  append(stream: Stream, text: string, time = new Date(this.#options.now()).toISOString()): void {
    const line: LogLine<Stream> = {
      seq: this.#sequence.next(),
      time,
      stream,
      text: cleanLine(text),
    };
    this.#ring.push(line);
    this.#write(formatLine(line));
    if (this.#listeners.size === 0) return;
    this.#batch.push(line);
    this.#timer ??= setTimeout(() => this.#tell(), BATCH_MS);
  }

  latest(count: number): LogLine<Stream>[] {
    return this.#ring.latest(count);
  }

  after(seq: number, limit = Number.POSITIVE_INFINITY): LogLine<Stream>[] {
    return this.#ring.after(seq, limit);
  }

  before(seq: number, limit: number): LogLine<Stream>[] {
    return this.#ring.before(seq, limit);
  }

  /** Lines with smaller numbers, newest first, in pieces; with `history` also from the files. */
  async *newestFirst(before: number, history: boolean): AsyncGenerator<LogLine<Stream>[]> {
    let seq = before;
    for (let lines = this.before(seq, PIECE); lines.length > 0; lines = this.before(seq, PIECE)) {
      seq = lines[0]?.seq ?? 0;
      yield lines.reverse();
    }
    if (!history) return;
    await this.drain();
    for await (const lines of linesBefore(this.folder, seq)) yield lines as LogLine<Stream>[];
  }

  /** The last lines with smaller numbers, oldest first, from memory and files: at most `limit`, and at most `PAGE_CHARS`. */
  async page(before: number, limit: number): Promise<{ lines: LogLine<Stream>[]; more: boolean }> {
    const found: LogLine<Stream>[] = [];
    let chars = 0;
    for await (const lines of this.newestFirst(before, true)) {
      for (const line of lines) {
        chars += line.text.length;
        if (found.length === limit || chars > PAGE_CHARS) return { lines: found.reverse(), more: true };
        found.push(line);
      }
    }
    return { lines: found.reverse(), more: false };
  }

  /** Passes batches in order, each line once. Returns the function that removes the listener. */
  onLines(listener: (batch: readonly LogLine<Stream>[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the files hold all lines appended so far. */
  async drain(): Promise<void> {
    await this.#writer.drain();
  }

  /** Passes the waiting lines to listeners, and writes them. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#tell();
    await this.#writer.close();
    this.#sequence.close();
    await this.#sweep;
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    for (const listener of this.#listeners) listener(batch);
  }

  #write(text: string): void {
    if (this.#current === null) this.beginRun();
    const bytes = Buffer.byteLength(text);
    if (this.#currentBytes > 0 && this.#currentBytes + bytes > this.#options.maxFileBytes) {
      this.#turnTo(this.#names.ofNextPart());
    }
    this.#currentBytes += bytes;
    this.#writer.append(this.#current as string, text);
  }

  #turnTo(name: string): void {
    this.#current = name;
    this.#currentBytes = 0;
    this.#beginSweep();
  }

  /** Sweeps one after another, and reserves room for the growth of the current file. */
  #beginSweep(): void {
    const { retention, now, maxFileBytes } = this.#options;
    this.#sweep = this.#sweep.then(() => {
      const { maxAgeMs, maxBytes } = retention();
      return this.folder.sweep({ maxAgeMs, maxBytes: maxBytes - maxFileBytes }, this.#current, now());
    });
  }
}
