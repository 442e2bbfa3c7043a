import type { Say } from '../config/say.ts';
import type { Cancel, Timers } from './timers.ts';

const PERIOD_MS = 600_000;
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
    const { timers, probe } = this.#options;
    try {
      const begun = timers.elapsed();
      const seconds = await probe();
      const halfRoundTripMs = (timers.elapsed() - begun) / 2;
      this.#set(seconds * 1000 + CUT_MS + halfRoundTripMs - timers.now());
      this.#lastTrouble = '';
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
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
