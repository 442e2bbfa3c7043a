import type { LineStream } from './console.ts';
import type { DiagnosticLevel } from './diagnostics.ts';

const ERROR = /\b(?:error|exception|fatal)\b/i;
const WARNING = /\bwarn(?:ing)?\b/i;
/** Lines of the panel itself (`panel/server`): the server is down or about to be, or something was done to it. */
const PANEL_ERROR =
  /\b(?:crashed|hangs|(?:cannot|could not) (?:be )?start(?:ed)?|do(?:es)? not end|no record of this crash|too often)\b/i;
const PANEL_WARNING = /\b(?:by force|left behind|could not|started again)\b/i;
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
