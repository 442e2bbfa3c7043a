/** Asked once in a second at most: a list may be built of a thousand moments. */
const KEPT_MS = 1000;

export interface ClockBuilders {
  /**
   * A moment by the sidecar's clock, as text for a `DateTime`: now, or so many seconds from now; negative lies behind.
   * `Q.Lt('until_at', Q.Now())`, `{ until_at: Q.Now(3600) }`, `Q.Lt('sent_at', Q.Now(-7 * 86_400))`
   *
   * @throws TypeError where `seconds` is no number, or leads out of the years 1 to 9999
   */
  Now(seconds?: number): string;
}

interface Known {
  readonly offsetMs: number;
  readonly atMs: number;
}

let readOffset: (() => unknown) | undefined;
let known: Known | undefined;

/** @param read asks the connector how many milliseconds the sidecar's clock is ahead; may throw while it is not running */
export function setClock(read: () => unknown): void {
  readOffset = read;
  known = undefined;
}

/** The last known offset if the connector is away; 0 before the first. */
function offsetMs(): number {
  const atMs = performance.now();
  if (known !== undefined && atMs - known.atMs < KEPT_MS) return known.offsetMs;
  let offset: unknown;
  try {
    offset = readOffset?.();
  } catch {
    offset = undefined;
  }
  known = { offsetMs: typeof offset === 'number' && Number.isFinite(offset) ? offset : (known?.offsetMs ?? 0), atMs };
  return known.offsetMs;
}

function now(seconds = 0): string {
  if (typeof seconds !== 'number') throw new TypeError(`Q.Now: expected seconds, got a ${typeof seconds}`);
  const moment = new Date(Date.now() + offsetMs() + seconds * 1000);
  const year = moment.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) throw new TypeError(`Q.Now: ${seconds} seconds from now is no moment to store`);
  return moment.toISOString();
}

export const clockBuilders: ClockBuilders = { Now: now };
