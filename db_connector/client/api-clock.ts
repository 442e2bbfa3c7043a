import type { Say } from '../config/say.ts';
import type { SignedTime } from './api-time.ts';
import type { Cancel, Timers } from './timers.ts';

const PERIOD_MS = 600_000;
/** A longer round trip says little: a second may be missing on one side only, as when the game thread stood still. */
const GOOD_ROUND_TRIP_MS = 250;
const MAX_READINGS = 3;
const MAX_OFFSET_MS = 24 * 3_600_000;
/** The API cuts its time to whole seconds, so half a second is missing on average. */
const CUT_MS = 500;
/** Two readings this close to each other are of the same clock. */
const SAME_CLOCK_MS = 2000;

export interface ApiClockOptions {
  readonly timers: Timers;
  /** The Unix seconds of `GET /v1/health`, which are not signed.
   * @throws Error whose message says why there is no time */
  readonly probe: () => Promise<number>;
  /** Asks for the time in a request that is signed for these Unix seconds.
   * @throws Error whose message says why there is no answer */
  readonly ask: (seconds: number) => Promise<SignedTime>;
  readonly log: Say;
}

interface Reading {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

/**
 * The API's clock, as far as this machine knows: its own clock and an offset (contract section 8). The offset follows
 * from the signed `time` of `health`. The public probe only says for which time such a request may be signed, so that no
 * other request is ever signed for a time that a program in between has made up.
 */
export class ApiClock {
  readonly #options: ApiClockOptions;
  #offsetMs = 0;
  #isSet = false;
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
    return this.#secondsAt(this.#offsetMs);
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

  /**
   * Never rejects. A caller shares a measurement that is under way.
   *
   * @param isRefused the API has just refused a request, maybe for its time
   */
  sync(isRefused = false): Promise<void> {
    this.#running ??= this.#measure(isRefused).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #measure(isRefused: boolean): Promise<void> {
    try {
      const told = isRefused ? 'refused' : await this.#askAt(this.#offsetMs);
      if (told === 'refused') await this.#search();
      else if (told === 'untold') await this.#setUntold();
      else this.#set(told);
      this.#lastTrouble = '';
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  /** Asks again with the time of the probe, if that is another one. */
  async #search(): Promise<void> {
    const probed = believable(await this.#probe());
    if (Math.abs(probed.offsetMs - this.#offsetMs) <= SAME_CLOCK_MS) return;
    const told = await this.#askAt(probed.offsetMs);
    if (told === 'untold') await this.#setUntold();
    else if (told !== 'refused') this.#set(told);
  }

  /** A key that may not ask: the probe counts, but only for the first time. */
  async #setUntold(): Promise<void> {
    if (this.#isSet) throw new Error('the key may not use health, so the time is not known for sure');
    this.#set(await this.#probe());
  }

  #set(reading: Reading): void {
    this.#offsetMs = believable(reading).offsetMs;
    this.#isSet = true;
  }

  #askAt(offsetMs: number): Promise<Reading | 'refused' | 'untold'> {
    return this.#quickest(() => this.#options.ask(this.#secondsAt(offsetMs)));
  }

  #probe(): Promise<Reading> {
    return this.#quickest<never>(this.#options.probe);
  }

  /** The reading with the shortest round trip, or the first refusal. */
  async #quickest<Refusal extends string = never>(read: () => Promise<number | Refusal>): Promise<Reading | Refusal> {
    let best: Reading | null = null;
    for (let count = 0; count < MAX_READINGS && (best?.roundTripMs ?? Infinity) > GOOD_ROUND_TRIP_MS; count += 1) {
      const reading = await this.#read(read);
      if (typeof reading === 'string') return reading;
      if (best === null || reading.roundTripMs < best.roundTripMs) best = reading;
    }
    return best as Reading;
  }

  async #read<Refusal extends string>(read: () => Promise<number | Refusal>): Promise<Reading | Refusal> {
    const { timers } = this.#options;
    const begun = timers.elapsed();
    const told = await read();
    const roundTripMs = timers.elapsed() - begun;
    if (typeof told === 'string') return told;
    return { offsetMs: told * 1000 + CUT_MS + roundTripMs / 2 - timers.now(), roundTripMs };
  }

  #secondsAt(offsetMs: number): number {
    return Math.floor((this.#options.timers.now() + offsetMs) / 1000);
  }

  /** The same trouble every ten minutes, or after every 401, is one line. */
  #complain(trouble: string): void {
    if (trouble !== this.#lastTrouble && this.#stop !== null) {
      this.#options.log(`clock not set: ${trouble}`, 'warning');
    }
    this.#lastTrouble = trouble;
  }
}

function believable(reading: Reading): Reading {
  if (Math.abs(reading.offsetMs) <= MAX_OFFSET_MS) return reading;
  const hours = Math.round(reading.offsetMs / 3_600_000);
  throw new Error(`the API's clock differs by ${hours} hours; that is not believed`);
}
