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

/** By bundle, the newest last: the bundles of a server share this module, and one that has stopped can ask nobody. */
const readers = new Map<string, () => unknown>();
let known: Known | undefined;

/**
 * @param bundle that asks
 * @param read asks the connector how many milliseconds the sidecar's clock is ahead; may throw while it is not running
 */
export function setClock(bundle: string, read: () => unknown): void {
  readers.delete(bundle);
  readers.set(bundle, read);
  known = undefined;
}

/** The last known offset if the connector is away; 0 before the first. */
function offsetMs(): number {
  const atMs = performance.now();
  if (known !== undefined && atMs - known.atMs < KEPT_MS) return known.offsetMs;
  known = { offsetMs: readOffset() ?? known?.offsetMs ?? 0, atMs };
  return known.offsetMs;
}

/** undefined if no bundle gets an answer. */
function readOffset(): number | undefined {
  for (const read of [...readers.values()].reverse()) {
    try {
      const offset = read();
      if (typeof offset === 'number' && Number.isFinite(offset)) return offset;
    } catch {
      // Another bundle may get an answer.
    }
  }
  return undefined;
}

function now(seconds = 0): string {
  if (typeof seconds !== 'number') throw new TypeError(`Q.Now: expected seconds, got a ${typeof seconds}`);
  const moment = new Date(Date.now() + offsetMs() + seconds * 1000);
  const year = moment.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) throw new TypeError(`Q.Now: ${seconds} seconds from now is no moment to store`);
  return moment.toISOString();
}

export const clockBuilders: ClockBuilders = { Now: now };
