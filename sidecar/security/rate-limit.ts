const SLOT_MS = 20;
/** A second has one slot less: the oldest slot is only partly within it. */
const SLOTS = 1000 / SLOT_MS + 1;
const DEFAULT_MAX_SOURCES = 10_000;

interface Window {
  /** Requests let through, a slot each. */
  readonly counts: Int32Array;
  /** Number of the newest slot. */
  slot: number;
  total: number;
}

/**
 * At most `perSecond` requests of one source within any second. Memory is bounded: beyond `maxSources` the source that
 * came first is forgotten, which can only let it through.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #maxSources: number;
  readonly #windows = new Map<string, Window>();
  #refused = 0;

  constructor(perSecond: number, maxSources = DEFAULT_MAX_SOURCES) {
    this.#perSecond = perSecond;
    this.#maxSources = maxSources;
  }

  get refused(): number {
    return this.#refused;
  }

  /** True counts the request; false leaves the window as it is. `nowMs` is monotonic. */
  take(source: string, nowMs: number): boolean {
    const window = this.#windowOf(source, Math.floor(nowMs / SLOT_MS));
    if (window.total >= this.#perSecond) {
      this.#refused += 1;
      return false;
    }
    window.total += 1;
    const index = window.slot % SLOTS;
    window.counts[index] = (window.counts[index] as number) + 1;
    return true;
  }

  #windowOf(source: string, slot: number): Window {
    const window = this.#windows.get(source);
    if (window === undefined) return this.#open(source, slot);
    const passed = slot - window.slot;
    if (passed <= 0) return window;
    for (let step = 1; step <= Math.min(passed, SLOTS); step += 1) {
      const index = (window.slot + step) % SLOTS;
      window.total -= window.counts[index] as number;
      window.counts[index] = 0;
    }
    window.slot = slot;
    return window;
  }

  #open(source: string, slot: number): Window {
    if (this.#windows.size >= this.#maxSources) {
      for (const oldest of this.#windows.keys()) {
        this.#windows.delete(oldest);
        break;
      }
    }
    const window = { counts: new Int32Array(SLOTS), slot, total: 0 };
    this.#windows.set(source, window);
    return window;
  }
}
