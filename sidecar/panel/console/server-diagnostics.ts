import { type ConsoleLine, levelOf, lineSource } from '../shapes/console.ts';
import type { ConsoleLog } from './console-log.ts';
import type { DiagnosticLine, DiagnosticLog } from './diagnostics.ts';
import { plainText } from './line-text.ts';

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
