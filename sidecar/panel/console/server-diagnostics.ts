import type { ConsoleLine } from '../shapes/console.ts';
import type { DiagnosticLevel } from '../shapes/diagnostics.ts';
import { lineSource } from '../shapes/line-source.ts';
import type { ConsoleLog } from './console-log.ts';
import type { DiagnosticLine, DiagnosticLog } from './diagnostics.ts';
import { plainText } from './line-text.ts';

const ERROR = /\b(?:error|exception|fatal)\b/i;
const WARNING = /\bwarn(?:ing)?\b/i;
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
  return { seq, time, source: 'server', module, level: isOutput ? levelOf(stream, plain) : 'info', text: plain };
}

function levelOf(stream: 'out' | 'err', plain: string): DiagnosticLevel {
  const telling = plain.slice(0, TELLING_CHARS);
  if (stream === 'err' || ERROR.test(telling)) return 'error';
  return WARNING.test(telling) ? 'warn' : 'info';
}
