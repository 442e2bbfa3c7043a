import type { LineStream } from '../shapes/console.ts';
import { LineLog, type LineLogOptions } from './line-log.ts';

/** What whoever runs the server has to know of the console. */
export interface LineSink {
  /** Before the first line of a run. */
  beginRun(): void;
  /** One line; what it must not hold is taken out here. Never waits for the disk. */
  append(stream: LineStream, text: string): void;
}

export const MEGABYTE = 2 ** 20;
/** Panel contract: a file is rotated at 50 MB and kept 14 days; the logs of the panel take 1 GB in all. */
const MAX_FILE_BYTES = 50 * MEGABYTE;
export const LOG_AGE_MS = 14 * 86_400_000;
export const ALL_LOGS_BYTES = 1024 * MEGABYTE;
const MAX_LINES = 20_000;
const MAX_CHARS = 24_000_000;

type ConsoleLogOptions = Pick<LineLogOptions, 'folder' | 'onTrouble'> & Partial<LineLogOptions>;

/** The console of the game server: what it said, what was typed, what the panel did. */
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
