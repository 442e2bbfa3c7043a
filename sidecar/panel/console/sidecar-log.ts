import type { LogSink } from '#sidecar/log.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import { DIAGNOSTIC_LEVELS, type DiagnosticLevel } from '../shapes/diagnostics.ts';
import { LOG_AGE_MS, MEGABYTE } from './console-log.ts';
import type { DiagnosticLine, DiagnosticLog } from './diagnostics.ts';
import { LineLog, type LineLogOptions } from './line-log.ts';
import type { LogLine } from './line-text.ts';

/** Part of the sidecar that logged the line. */
export type SidecarPart = 'panel' | 'api';
export type SidecarLog = LineLog<SidecarPart>;

export const SIDECAR_LOG_BYTES = 64 * MEGABYTE;
const MAX_FILE_BYTES = 8 * MEGABYTE;
const MAX_LINES = 5_000;
const MAX_CHARS = 4_000_000;

/** The sidecar's own log, for owners who see the panel and not the machine's terminal. */
export function openSidecarLog(options: Pick<LineLogOptions, 'folder' | 'now' | 'onTrouble'>): Promise<SidecarLog> {
  return LineLog.open<SidecarPart>({
    maxLines: MAX_LINES,
    maxChars: MAX_CHARS,
    maxFileBytes: MAX_FILE_BYTES,
    retention: () => ({ maxAgeMs: LOG_AGE_MS, maxBytes: SIDECAR_LOG_BYTES }),
    ...options,
  });
}

/** Passes lines on, and stores them. */
export class KeptSink implements LogSink {
  readonly #sink: LogSink;
  readonly #log: SidecarLog;
  readonly #part: SidecarPart;

  constructor(sink: LogSink, log: SidecarLog, part: SidecarPart) {
    this.#sink = sink;
    this.#log = log;
    this.#part = part;
  }

  write(line: string): void {
    this.#sink.write(line);
    keepLine(this.#log, this.#part, line);
  }
}

/** Stores a line, without the setup key: the only logged secret is for the terminal, and for no account. */
export function keepLine(log: SidecarLog, part: SidecarPart, line: string): void {
  if (!line.includes('"setup key"')) log.append(part, line);
}

/** The sidecar's own log as a source of diagnostics. */
export class SidecarDiagnostics implements DiagnosticLog {
  readonly sources = ['panel', 'api'] as const;
  readonly #log: SidecarLog;

  constructor(log: SidecarLog) {
    this.#log = log;
  }

  async *newestFirst(before: number, history: boolean): AsyncGenerator<DiagnosticLine[]> {
    for await (const lines of this.#log.newestFirst(before, history)) yield lines.map(shown);
  }
}

const LEVELS: readonly unknown[] = DIAGNOSTIC_LEVELS;

function shown({ seq, time, stream, text }: LogLine<SidecarPart>): DiagnosticLine {
  const fields = fieldsOf(text);
  if (fields === null) return { seq, time, source: stream, module: '', level: 'info', text };
  const { time: _time, level, msg, event: _event, ...rest } = fields;
  const told = Object.entries(rest).filter(([, value]) => value !== '' && value !== null);
  const details = told.map(([name, value]) => `${name}=${worded(value)}`);
  return {
    ...{ seq, time, source: stream },
    module: typeof rest.service === 'string' ? rest.service : '',
    level: LEVELS.includes(level) ? (level as DiagnosticLevel) : 'info',
    text: [worded(msg), ...details].join(' '),
    isOrdinaryRequest: isOrdinaryRequest(fields),
  };
}

/** Lines of the request logs of API and panel, and their counts of requests without a line. */
function isOrdinaryRequest({ event, level, status, refused }: Record<string, unknown>): boolean {
  if (level !== 'info') return false;
  if (event === LOG_EVENT.request) return typeof status === 'number' && status < 400;
  return event === LOG_EVENT.requestsCounted && refused === 0;
}

function worded(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** null for a line that was cut. */
function fieldsOf(text: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
