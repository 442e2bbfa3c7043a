import type { ConsoleLine, LineStream } from '../shapes/console.ts';
import type { DiagnosticLevel } from '../shapes/diagnostics.ts';
import { lineSource } from '../shapes/line-source.ts';
import type { ConsoleLog } from './console-log.ts';
import type { DiagnosticLine, DiagnosticLog } from './diagnostics.ts';
import { plainText } from './line-text.ts';

const ERROR = /\b(?:error|exception|fatal)\b/i;
const WARNING = /\bwarn(?:ing)?\b/i;
/** Lines of the panel itself (`panel/server`): the server is down or about to be, or something was done to it. */
const PANEL_ERROR =
  /\b(?:crashed|hangs|(?:cannot|could not) (?:be )?start(?:ed)?|do(?:es)? not end|no record of this crash|too often)\b/i;
const PANEL_WARNING = /\b(?:by force|left behind|could not|started again)\b/i;
/** Where a line says what it is, it says so at its beginning. */
const TELLING_CHARS = 200;

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

function levelOf(stream: LineStream, plain: string): DiagnosticLevel {
  const telling = plain.slice(0, TELLING_CHARS);
  if (stream === 'in') return 'info';
  if (stream === 'panel') return PANEL_ERROR.test(telling) ? 'error' : PANEL_WARNING.test(telling) ? 'warn' : 'info';
  if (stream === 'err' || ERROR.test(telling)) return 'error';
  return WARNING.test(telling) ? 'warn' : 'info';
}
