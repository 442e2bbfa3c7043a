import { write } from 'node:fs';

export type LogFields = Readonly<Record<string, unknown>>;

/** Takes whole JSON lines, without the line feed. */
export interface LogSink {
  write(line: string): void;
}

/** JSON lines: `time`, `level`, `msg`, and fields. Nothing secret and no payload is ever handed to it. */
export class Log {
  readonly #sink: LogSink;
  readonly #now: () => number;

  constructor(sink: LogSink, now: () => number = Date.now) {
    this.#sink = sink;
    this.#now = now;
  }

  info(msg: string, fields: LogFields = {}): void {
    this.#write('info', msg, fields);
  }

  warn(msg: string, fields: LogFields = {}): void {
    this.#write('warn', msg, fields);
  }

  error(msg: string, fields: LogFields = {}): void {
    this.#write('error', msg, fields);
  }

  #write(level: string, msg: string, fields: LogFields): void {
    this.#sink.write(JSON.stringify({ time: new Date(this.#now()).toISOString(), level, msg, ...fields }));
  }
}

/** Where a fault came from, without its message, which may hold a value. */
export function traceOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const frames = (thrown.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return [thrown.name, ...frames.slice(0, 6).map((line) => line.trim())].join(' | ');
}

const MAX_EARLY_LINES = 200;

/** Passes lines on, and to one listener too: what came before there was one is kept for it, as far as a few lines go. */
export class LogTap implements LogSink {
  readonly #sink: LogSink;
  #listener: ((line: string) => void) | null = null;
  #early: string[] = [];

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  write(line: string): void {
    this.#sink.write(line);
    if (this.#listener !== null) this.#listener(line);
    else if (this.#early.length < MAX_EARLY_LINES) this.#early.push(line);
  }

  onLine(listener: ((line: string) => void) | null): void {
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    if (listener !== null) for (const line of early) listener(line);
  }
}

const MAX_WAITING_CHARS = 4_000_000;
const RETRY_MS = 20;

/**
 * Standard output without waiting for its reader: a pipe that nobody empties must not stop the service. Lines beyond
 * 4 MB of arrears are dropped, and their number is told.
 */
export class StandardOutput implements LogSink {
  readonly #descriptor: number;
  /** Lines with their line feeds. */
  #waiting = '';
  #dropped = 0;
  #inFlight: Buffer | null = null;

  constructor(descriptor = 1) {
    this.#descriptor = descriptor;
  }

  write(line: string): void {
    if (this.#waiting.length > MAX_WAITING_CHARS) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += `${line}\n`;
    this.#pump();
  }

  /** Resolves once everything is written, or after `waitMs` where nobody reads. */
  async drain(waitMs = 1000): Promise<void> {
    const giveUpAt = performance.now() + waitMs;
    while ((this.#inFlight !== null || this.#waiting !== '') && performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #pump(): void {
    if (this.#inFlight !== null || this.#waiting === '') return;
    const dropped = { level: 'warn', msg: 'log lines dropped', lines: this.#dropped };
    const text = this.#dropped === 0 ? this.#waiting : `${this.#waiting}${JSON.stringify(dropped)}\n`;
    this.#waiting = '';
    this.#dropped = 0;
    this.#send(Buffer.from(text));
  }

  #send(bytes: Buffer): void {
    this.#inFlight = bytes;
    write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error !== null && error.code !== 'EAGAIN') {
        this.#inFlight = null;
        return;
      }
      const rest = bytes.subarray(error === null ? written : 0);
      if (rest.length === 0) {
        this.#inFlight = null;
        this.#pump();
        return;
      }
      this.#inFlight = rest;
      setTimeout(() => this.#send(rest), error === null ? 0 : RETRY_MS);
    });
  }
}
