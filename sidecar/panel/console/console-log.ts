import { type ConsoleLine, type LineStream, levelOf, lineSource } from '../shapes/console.ts';
import type { DiagnosticLine, DiagnosticLog } from './diagnostics.ts';
import { LineLog, type LineLogOptions } from './line-log.ts';
import { plainText } from './line-text.ts';

/** The console, as the server control sees it. */
export interface LineSink {
  /** Before the first line of a run. */
  beginRun(): void;
  /**
   * Appends a line and removes unsafe characters from it. Never waits for the disk.
   *
   * @param time when it was read, if that was earlier (ISO 8601 UTC with milliseconds)
   */
  append(stream: LineStream, text: string, time?: string): void;
}

export const MEGABYTE = 2 ** 20;
/** Panel contract: a file is rotated at 50 MB and kept for 14 days; all logs of the panel take at most 1 GB. */
const MAX_FILE_BYTES = 50 * MEGABYTE;
export const LOG_AGE_MS = 14 * 86_400_000;
export const ALL_LOGS_BYTES = 1024 * MEGABYTE;
const MAX_LINES = 20_000;
const MAX_CHARS = 24_000_000;

type ConsoleLogOptions = Pick<LineLogOptions, 'folder' | 'onTrouble'> & Partial<LineLogOptions>;

/** The game server's console: its output, typed lines, and the panel's own lines. */
export type ConsoleLog = LineLog<LineStream>;

export function openConsoleLog(options: ConsoleLogOptions): Promise<ConsoleLog> {
  return LineLog.open<LineStream>({
    now: Date.now,
    maxLines: MAX_LINES,
    maxChars: MAX_CHARS,
    maxFileBytes: MAX_FILE_BYTES,
    retention: () => ({ maxAgeMs: LOG_AGE_MS, maxBytes: ALL_LOGS_BYTES }),
    ...options,
  });
}

/** The console as a source of diagnostics. */
export class ServerDiagnostics implements DiagnosticLog {
  readonly sources = ['server'] as const;
  readonly #console: ConsoleLog;

  constructor(console: ConsoleLog) {
    this.#console = console;
  }

  async *newestFirst(before: number, history: boolean): AsyncGenerator<DiagnosticLine[]> {
    for await (const lines of this.#console.newestFirst(before, history)) yield lines.map(shown);
  }
}

function shown({ seq, time, stream, text }: ConsoleLine): DiagnosticLine {
  const plain = plainText(text);
  const isOutput = stream === 'out' || stream === 'err';
  const module = isOutput ? lineSource(plain) : '';
  return { seq, time, source: 'server', module, level: levelOf(stream, plain), text: plain };
}
