/** Where a line came from: the server's output and error output, a command that somebody sent, the panel itself. */
export type LineStream = 'out' | 'err' | 'in' | 'panel';

/** One line of the console. Numbers never start again; they are the same live, in the file and in the archive. */
export interface ConsoleLine {
  readonly seq: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly stream: LineStream;
  /** Escape sequences kept, control characters else made visible; at most 16,384 characters. */
  readonly text: string;
}
