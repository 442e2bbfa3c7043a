import type { DiagnosticLevel } from './diagnostics.ts';

/** Where a line came from: the server's output and error output, a command that somebody sent, the panel itself. */
export type LineStream = 'out' | 'err' | 'in' | 'panel';

/** A line of the console. Numbers never start again; they are the same live, in the file and in the archive. */
export interface ConsoleLine {
  readonly seq: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly stream: LineStream;
  /** Escape sequences kept, control characters else made visible; at most 16,384 characters. */
  readonly text: string;
}

/** `[bundle] text` of the standalone server, `[ script:bundle] text` of FXServer. */
const SOURCE = /^\s{0,4}\[\s{0,32}(?:script:)?([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})\]/;

/** The bundle or part that wrote a line, where the line, without its colours, says so; else empty. */
export function lineSource(plain: string): string {
  return SOURCE.exec(plain)?.[1] ?? '';
}

const ERROR = /\b(?:error|exception|fatal)\b/i;
const WARNING = /\bwarn(?:ing)?\b/i;
/**
 * The panel's own lines (`panel/server`). Errors: the server is down or frozen. They begin with fixed words, so that the name
 * of an account, with which other lines begin, never counts.
 */
const PANEL_ERROR =
  /^(?:The server (?:crashed|is frozen|could not start|was started too often)|This crash could not|Some processes)\b/;
const PANEL_WARNING = /^(?:The server starts again|Ending a server|The process id)\b|stops the server by force$/;
/** Where a line says what it is, it says so at its beginning. */
const TELLING_CHARS = 200;

/** Level of a console line without its colours, in diagnostics and on the console page. */
export function levelOf(stream: LineStream, plain: string): DiagnosticLevel {
  const telling = plain.slice(0, TELLING_CHARS);
  if (stream === 'in') return 'info';
  if (stream === 'panel') return PANEL_ERROR.test(telling) ? 'error' : PANEL_WARNING.test(telling) ? 'warn' : 'info';
  if (stream === 'err' || ERROR.test(telling)) return 'error';
  return WARNING.test(telling) ? 'warn' : 'info';
}
