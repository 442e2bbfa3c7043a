import type { FxServer } from './fx-server.ts';

type FieldKind = 'text' | 'number' | 'boolean';

/** Events that txAdmin documents and the panel triggers in its place, with all fields of each. */
const EVENTS: Readonly<Record<string, Readonly<Record<string, FieldKind>>>> = {
  scheduledRestart: { secondsRemaining: 'number', translatedMessage: 'text' },
  scheduledRestartSkipped: { secondsRemaining: 'number', temporary: 'boolean', author: 'text' },
  announcement: { author: 'text', message: 'text' },
  serverShuttingDown: { delay: 'number', author: 'text', message: 'text' },
};
/** Characters of the encoded fields. */
const LONGEST = 4096;
const USAGE = `Usage: db-event ${Object.keys(EVENTS).join('|')} FIELDS, where FIELDS is a JSON object in base64url`;

/**
 * Registers `db-event NAME FIELDS`: triggers `txAdmin:events:NAME` with one table. Only for the server's own console: a player is
 * refused whatever its permissions are, and so is a resource that runs the command.
 */
export function registerEventCommand(fx: FxServer): void {
  fx.RegisterCommand(
    'db-event',
    (source, words) => {
      if (source !== 0 || (fx.GetInvokingResource() ?? null) !== null) return;
      const [name, fields, ...more] = words;
      const table = more.length === 0 ? readFields(name, fields) : null;
      if (table === null) fx.console.log(USAGE);
      else fx.emit(`txAdmin:events:${name}`, table);
    },
    true,
  );
}

/** null if the event is unknown, or its fields are not exactly the documented ones. */
function readFields(name = '', encoded = ''): Record<string, unknown> | null {
  const wanted = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  if (wanted === undefined || encoded.length > LONGEST || !/^[\w-]+$/.test(encoded)) return null;
  let given: unknown;
  try {
    given = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const table = given as Record<string, unknown>;
  const names = Object.keys(wanted);
  const isWhole =
    Object.keys(table).length === names.length && names.every((field) => isKind(table[field], wanted[field]));
  return isWhole ? table : null;
}

function isKind(value: unknown, kind: FieldKind | undefined): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && value >= 0;
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return false;
  }
}
