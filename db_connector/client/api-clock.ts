import type { Say } from '../config/say.ts';
import type { Cancel, Timers } from './timers.ts';

const PERIOD_MS = 600_000;
/** A longer round trip says little: a second may be missing on one side only, as where the game thread stood still. */
const GOOD_ROUND_TRIP_MS = 250;
const MAX_PROBES = 3;
const MAX_OFFSET_MS = 24 * 3_600_000;
/** The API cuts its time to whole seconds, so half a second is missing on average. */
const CUT_MS = 500;

export interface ApiClockOptions {
  readonly timers: Timers;
  /** The Unix seconds of `GET /v1/health`.
   * @throws Error whose message says why there is no time */
  readonly probe: () => Promise<number>;
  readonly log: Say;
}

/** The API's clock, as far as this machine knows: its own clock and an offset (contract section 8). */
export class ApiClock {
  readonly #options: ApiClockOptions;
  #offsetMs = 0;
  #running: Promise<void> | null = null;
  #stop: Cancel | null = null;
  #lastTrouble = '';

  constructor(options: ApiClockOptions) {
    this.#options = options;
  }

  /** Seconds that the API is ahead. */
  get offsetSeconds(): number {
    return Math.round(this.#offsetMs / 1000) || 0;
  }

  /** The same in whole milliseconds. */
  get offsetMs(): number {
    return Math.round(this.#offsetMs) || 0;
  }

  /** Unix seconds of the API. */
  seconds(): number {
    return Math.floor((this.#options.timers.now() + this.#offsetMs) / 1000);
  }

  /** Sets the clock now and every ten minutes. */
  start(): Promise<void> {
    this.#stop ??= this.#options.timers.every(PERIOD_MS, () => void this.sync());
    return this.sync();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  /** Never rejects. Whoever asks while a probe is under way shares it. */
  sync(): Promise<void> {
    this.#running ??= this.#measure().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #measure(): Promise<void> {
    try {
      let best = await this.#probe();
      for (let count = 1; count < MAX_PROBES && best.roundTripMs > GOOD_ROUND_TRIP_MS; count += 1) {
        const other = await this.#probe();
        if (other.roundTripMs < best.roundTripMs) best = other;
      }
      this.#set(best.offsetMs);
      this.#lastTrouble = '';
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  async #probe(): Promise<{ readonly offsetMs: number; readonly roundTripMs: number }> {
    const { timers, probe } = this.#options;
    const begun = timers.elapsed();
    const seconds = await probe();
    const roundTripMs = timers.elapsed() - begun;
    return { offsetMs: seconds * 1000 + CUT_MS + roundTripMs / 2 - timers.now(), roundTripMs };
  }

  #set(offsetMs: number): void {
    if (Math.abs(offsetMs) > MAX_OFFSET_MS) {
      throw new Error(`the API's clock differs by ${Math.round(offsetMs / 3_600_000)} hours; that is not believed`);
    }
    this.#offsetMs = offsetMs;
  }

  /** The same trouble every ten minutes, or after every 401, is one line. */
  #complain(trouble: string): void {
    if (trouble !== this.#lastTrouble && this.#stop !== null) {
      this.#options.log(`clock not set: ${trouble}`, 'warning');
    }
    this.#lastTrouble = trouble;
  }
}
