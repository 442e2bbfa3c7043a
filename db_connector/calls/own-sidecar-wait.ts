import type { Cancel, Timers } from '../client/timers.ts';
import type { CallSettings } from '../config/database-config.ts';
import type { CallQueue } from './call-queue.ts';

/** Longest that calls wait for a sidecar that this connector runs itself (contract section 8). */
const LONGEST_HOLD_MS = 30_000;
/** After a failed attempt at the own sidecar: if it has ended, its end is seen within this time. */
const DOUBT_MS = 1000;

/** Calls that wait because there is no address to send them to yet. */
interface Hold {
  readonly settings: CallSettings;
  readonly end: Cancel;
  /** The reason with which calls end once the wait is over; null while they wait. */
  over: string | null;
}

/** When the queue stands still for the sidecar that this connector runs itself: while it is down, and while it may be. */
export class OwnSidecarWait {
  readonly #timers: Timers;
  readonly #queue: CallQueue;
  #hold: Hold | null = null;
  #endDoubt: Cancel | null = null;

  constructor(timers: Timers, queue: CallQueue) {
    this.#timers = timers;
    this.#queue = queue;
  }

  get isHolding(): boolean {
    return this.#hold !== null;
  }

  /** Settings of the calls that are held; undefined if none are. */
  get settings(): CallSettings | undefined {
    return this.#hold?.settings;
  }

  /** The reason with which calls end since the hold was given up, else null. */
  get over(): string | null {
    return this.#hold?.over ?? null;
  }

  /** An attempt failed, and the end of the sidecar may be seen in a moment. */
  get isInDoubt(): boolean {
    return this.#endDoubt !== null;
  }

  hold(settings: CallSettings): void {
    this.stop();
    this.#queue.pause();
    const end = this.#timers.after(LONGEST_HOLD_MS, () =>
      this.giveUp(
        `the sidecar of this server has not started within ${LONGEST_HOLD_MS / 1000} s; the console says why`,
      ),
    );
    this.#hold = { settings, end, over: null };
  }

  /** End all waiting calls, and let no other call wait until `release`. */
  giveUp(reason: string): void {
    if (this.#hold === null) return;
    this.#hold.end();
    this.#hold.over = reason;
    this.#queue.dropWaiting();
  }

  release(): void {
    this.stop();
    this.#queue.resume();
  }

  /**
   * No call begins for a second: an attempt at the sidecar failed, and if it has ended, what waits must not fail with it.
   *
   * @param onLife called before the queue goes on, if the sidecar's end was not seen
   */
  doubt(onLife: () => void): void {
    if (this.isInDoubt) return;
    this.#queue.pause();
    this.#endDoubt = this.#timers.after(DOUBT_MS, () => {
      // After a hitch this timer may come before the news.
      this.#endDoubt = this.#timers.afterReads(() => {
        this.#endDoubt = null;
        onLife();
        this.#queue.resume();
      });
    });
  }

  /** Waits for nothing any more; the queue stays as it is. */
  stop(): void {
    this.#hold?.end();
    this.#hold = null;
    this.#endDoubt?.();
    this.#endDoubt = null;
  }
}
