import { ApiError } from '#protocol/errors.ts';
import { DETAILS_IN_LOG } from '../engine/log.ts';
import { LOG_EVENT } from '../log-event.ts';
import type { QueueWorld } from './queue-world.ts';

const WAITING =
  'queued writes cannot be applied: they stay in the journal, and are tried again until the database takes them';
/** Line of a start, which asks the database for the queue's owner. */
const NOTHING_WAITS =
  'the database cannot be asked about the queue: what is queued stays in the journal, and is tried until the database takes it';

/** Counts failures in a row; logs when they are too many and when they are over. */
export class Halting {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  #failures = 0;
  #rests = 0;
  /** Epoch milliseconds of the first failure in a row. */
  #since = 0;
  #isHalted = false;

  constructor(namespace: string, world: QueueWorld) {
    this.#namespace = namespace;
    this.#world = world;
  }

  get isHalted(): boolean {
    return this.#isHalted;
  }

  get reason(): string {
    return `its queue has halted, as the last ${this.#failures} attempts to apply it failed`;
  }

  /** `waiting`: number of writes in the queue. */
  failed(error: unknown, waiting: number): void {
    const { clock, config, log } = this.#world;
    this.#failures += 1;
    if (this.#failures === 1) this.#since = clock.now();
    if (!(error instanceof ApiError)) {
      log('error', 'an attempt to apply queued writes failed unexpectedly; it is repeated, nothing is dropped', {
        ...{
          namespace: this.#namespace,
          cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
        },
      });
    }
    if (!this.#isHalted && this.#failures >= config.haltAfterFailures) this.#halt(error, waiting);
  }

  /** Back-off before the next attempt, longer each time. */
  nextRestMs(): number {
    this.#rests += 1;
    return backoffMs(this.#rests, this.#world.random);
  }

  succeeded(): void {
    if (this.#isHalted) {
      const seconds = Math.round((this.#world.clock.now() - this.#since) / 1000);
      this.#world.log('info', 'queued writes are applied again', {
        event: LOG_EVENT.recovered,
        namespace: this.#namespace,
        afterSeconds: seconds,
      });
    }
    this.reset();
  }

  reset(): void {
    this.#isHalted = false;
    this.#failures = 0;
    this.#rests = 0;
  }

  #halt(error: unknown, waiting: number): void {
    this.#isHalted = true;
    const what =
      error instanceof ApiError ? `${error.code}: ${error.message.replace(DETAILS_IN_LOG, '')}` : 'see the line before';
    this.#world.log(
      'error',
      `${waiting > 0 ? WAITING : NOTHING_WAITS}; see that it runs, can be reached and takes writes`,
      {
        namespace: this.#namespace,
        what,
        waiting,
        failures: this.#failures,
        since: new Date(this.#since).toISOString(),
      },
    );
  }
}

const FIRST_MS = 100;
const MAX_MS = 30_000;

/** Back-off after so many failures in a row (contract section 7). `random` returns 0 to 1: half of the wait is jitter. */
export function backoffMs(failures: number, random: () => number): number {
  const whole = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return whole / 2 + (whole / 2) * random();
}
