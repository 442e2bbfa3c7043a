import { LOG_EVENT } from '../log-event.ts';

const QUIET_FIELDS = new Set(['time', 'level', 'msg', 'event']);

export interface SidecarLine {
  readonly level: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A JSON line of the sidecar's log; null for any other text. */
export function parseSidecarLine(line: string): SidecarLine | null {
  if (!line.startsWith('{')) return null;
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return { level: String(fields.level ?? 'info'), msg: String(fields.msg ?? ''), fields };
  } catch {
    return null;
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value);
}

/** Log recovery like the failure, so the console shows both. */
function titleOf({ level, fields }: SidecarLine): string | null {
  if (level === 'warn') return 'warning: ';
  if (level === 'error' || level === 'fatal') return 'error: ';
  return fields.event === LOG_EVENT.recovered ? '' : null;
}

/** Warnings and errors as a person reads them, `error: msg (field value, …)`; null for lines of every day. */
export function importantLine(line: SidecarLine): string | null {
  const { msg, fields } = line;
  const title = titleOf(line);
  if (title === null) return null;
  const rest = Object.entries(fields).filter(([name, value]) => !QUIET_FIELDS.has(name) && value !== null);
  const details = rest.length === 0 ? '' : ` (${rest.map(([name, value]) => `${name} ${shown(value)}`).join(', ')})`;
  return `${title}${msg}${details}`;
}

const EACH_MS = 30_000;

interface Told {
  readonly atMs: number;
  leftOut: number;
}

/**
 * Lines about single requests: while the database is away there may be hundreds of one kind, among which the line that says
 * so would not be found. The first of a kind is for the console, and then one each half minute; the log file has them all.
 */
export class RequestLines {
  readonly #told = new Map<string, Told>();

  /** How many lines of its kind were left out since the last one; null if this line is left out, too. */
  leftOutBefore({ msg, fields }: SidecarLine, nowMs: number): number | null {
    if (fields.event !== LOG_EVENT.request) return 0;
    const kind = `${msg} ${fields.code}`;
    const last = this.#told.get(kind);
    if (last !== undefined && nowMs - last.atMs < EACH_MS) {
      last.leftOut += 1;
      return null;
    }
    this.#told.set(kind, { atMs: nowMs, leftOut: 0 });
    return last?.leftOut ?? 0;
  }
}
