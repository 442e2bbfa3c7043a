const QUIET_FIELDS = new Set(['time', 'level', 'msg']);

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

/** Who has read on the console that something is wrong wants to read there that it is over. */
const ENDS_OF_TROUBLE = new Set([
  'the database works again',
  'queued writes are applied again',
  'the journal can be written again',
  'there is room again for queued writes',
  "the queue is this journal's now: writes of the namespace are accepted",
]);

function titleOf({ level, msg }: SidecarLine): string | null {
  if (level === 'warn') return 'warning: ';
  if (level === 'error' || level === 'fatal') return 'error: ';
  return ENDS_OF_TROUBLE.has(msg) ? '' : null;
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
