import { PanelError } from '../panel-error.ts';
import type { DiagnosticEntry, DiagnosticLevel, DiagnosticPage, DiagnosticSource } from '../shapes/diagnostics.ts';

/** Line of a log as diagnostics show it. Sequence numbers belong to the log and only grow. */
export interface DiagnosticLine {
  readonly seq: number;
  readonly time: string;
  readonly source: DiagnosticSource;
  readonly module: string;
  readonly level: DiagnosticLevel;
  readonly text: string;
  /** A request that succeeded: most lines of a busy log. */
  readonly isOrdinaryRequest?: boolean;
}

/** A log that diagnostics read; it may hold lines of several sources. */
export interface DiagnosticLog {
  readonly sources: readonly DiagnosticSource[];
  /** Lines with smaller numbers, newest first, in pieces; with `history` also from the files. */
  newestFirst(before: number, history: boolean): AsyncIterable<readonly DiagnosticLine[]>;
}

export interface DiagnosticQuery {
  readonly sources: ReadonlySet<DiagnosticSource>;
  /** Empty: all. */
  readonly module: string;
  readonly levels: ReadonlySet<DiagnosticLevel>;
  /** Include ordinary requests. */
  readonly hasRequests: boolean;
  /** Substring, ignoring case; empty: all. */
  readonly search: string;
  readonly limit: number;
  readonly history: boolean;
  /** null: the newest. */
  readonly cursor: string | null;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** Lines scanned per request; then the page says that there is more, with the cursor to continue. */
const MOST_SCANNED = 400_000;
const MOST_HISTORIES = 2;
/** In a cursor: a log that was not read yet. */
const NEWEST = 'n';

/** Merges the logs by time, newest first. A cursor has a number per log, so that a clock that was set loses no lines. */
export class Diagnostics {
  readonly #logs: readonly DiagnosticLog[];
  readonly #histories = new Turns(MOST_HISTORIES);

  constructor(logs: readonly DiagnosticLog[]) {
    this.#logs = logs;
  }

  /** @throws PanelError diagnostics.query */
  read(query: DiagnosticQuery): Promise<DiagnosticPage> {
    const places = this.#placesOf(query.cursor);
    const work = () => this.#read(query, places);
    return query.history ? this.#histories.run(work) : work();
  }

  async #read(query: DiagnosticQuery, places: number[]): Promise<DiagnosticPage> {
    const heads = this.#logs.flatMap((log, index) =>
      log.sources.some((source) => query.sources.has(source))
        ? [new Head(index, log.newestFirst(places[index] as number, query.history))]
        : [],
    );
    const search = query.search.toLowerCase();
    const entries: DiagnosticEntry[] = [];
    try {
      for (let scanned = 0; scanned < MOST_SCANNED && !query.signal.aborted; scanned += 1) {
        for (const head of heads) if (head.isEmpty) await head.fill();
        const newest = newestOf(heads);
        if (newest === null) return { entries, cursor: null, more: false };
        const line = newest.line as DiagnosticLine;
        const isWanted = isMatch(line, query, search);
        if (isWanted && entries.length === query.limit) return pageOf(entries, places);
        newest.take();
        places[newest.index] = line.seq;
        if (isWanted) entries.push(entryOf(line, places));
      }
    } finally {
      for (const head of heads) await head.close();
    }
    return pageOf(entries, places);
  }

  #placesOf(cursor: string | null): number[] {
    if (cursor === null) return this.#logs.map(() => Number.POSITIVE_INFINITY);
    const parts = cursor.split('.');
    const isGood = parts.length === this.#logs.length && parts.every((part) => /^(n|\d{1,15})$/.test(part));
    if (!isGood) throw new PanelError('diagnostics.query', { field: 'cursor' });
    return parts.map((part) => (part === NEWEST ? Number.POSITIVE_INFINITY : Number(part)));
  }
}

function pageOf(entries: readonly DiagnosticEntry[], places: readonly number[]): DiagnosticPage {
  return { entries, cursor: cursorOf(places), more: true };
}

function cursorOf(places: readonly number[]): string {
  return places.map((place) => (place === Number.POSITIVE_INFINITY ? NEWEST : place)).join('.');
}

function entryOf({ time, source, module, level, text }: DiagnosticLine, places: readonly number[]): DiagnosticEntry {
  return { cursor: cursorOf(places), time, source, module, level, text };
}

function isMatch(line: DiagnosticLine, query: DiagnosticQuery, search: string): boolean {
  if (!query.sources.has(line.source) || !query.levels.has(line.level)) return false;
  if (!query.hasRequests && line.isOrdinaryRequest === true) return false;
  if (query.module !== '' && line.module !== query.module) return false;
  return search === '' || line.text.toLowerCase().includes(search);
}

/** Times are ISO 8601 UTC, so their texts sort by time. */
function newestOf(heads: readonly Head[]): Head | null {
  let newest: Head | null = null;
  for (const head of heads) {
    if (head.line !== null && (newest?.line == null || head.line.time > newest.line.time)) newest = head;
  }
  return newest;
}

/** The next line of a log. */
class Head {
  readonly index: number;
  readonly #pieces: AsyncIterator<readonly DiagnosticLine[]>;
  #piece: readonly DiagnosticLine[] = [];
  #at = 0;
  #isDone = false;

  constructor(index: number, pieces: AsyncIterable<readonly DiagnosticLine[]>) {
    this.index = index;
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  get line(): DiagnosticLine | null {
    return this.#piece[this.#at] ?? null;
  }

  /** `fill` would read more. */
  get isEmpty(): boolean {
    return this.line === null && !this.#isDone;
  }

  take(): void {
    this.#at += 1;
  }

  async fill(): Promise<void> {
    while (this.isEmpty) {
      const { done, value } = await this.#pieces.next();
      this.#isDone = done === true;
      this.#piece = this.#isDone ? [] : value;
      this.#at = 0;
    }
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

/** Bounds simultaneous work that reads whole files; the rest waits for its turn. */
class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
