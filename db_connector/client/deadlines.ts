import type { Cancel, Timers } from './timers.ts';

const STEP_MS = 20;
/** From here on a gap between two looks means that the game thread stood still (contract section 8). */
const STALL_MS = 250;
/** From here on a gap is counted in what is said of slow calls; shorter ones are a tick's ordinary work. */
const NOTED_GAP_MS = 60;

/** Looks that find nothing under way before they end: calls come in each tick of the game, and setting a timer costs more. */
const IDLE_LOOKS = 50;

/** Something under way that must end at `dueAt`, in the `elapsed` of the timers. */
export interface Watched {
  readonly dueAt: number;
  /** For `Deadlines` alone. */
  watchedBy: Deadlines | null;
  /** Bytes read so far. */
  readonly received: number;
  /** @param hasStalled the thread stood still when the time was up, so the other side may not be to blame */
  expire(hasStalled: boolean): void;
}

/**
 * The deadlines of all attempts in flight, behind one timer that runs only while there are any.
 *
 * A deadline that falls due while the thread stands still lets the waiting socket data be read first: an answer that
 * came in time must not be lost because the game was busy.
 */
export class Deadlines {
  readonly #timers: Timers;
  /** In the order in which they began. Ended attempts stay until the next look: a `Set` makes garbage that lives long (`OrderedTable`). */
  readonly #watched: Watched[] = [];
  #underWay = 0;
  readonly #reading = new Map<Watched, Cancel>();
  #lastLook = 0;
  #idleLooks = 0;
  /** All gaps between looks so far. */
  #stalledMs = 0;
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  watch(attempt: Watched): void {
    attempt.watchedBy = this;
    this.#watched.push(attempt);
    this.#underWay += 1;
    if (this.#stop === null) {
      this.#lastLook = this.#timers.elapsed();
      this.#stop = this.#timers.every(STEP_MS, () => this.#look());
    }
  }

  forget(attempt: Watched): void {
    if (attempt.watchedBy !== this) return;
    attempt.watchedBy = null;
    this.#underWay -= 1;
    if (this.#reading.size === 0) return;
    this.#reading.get(attempt)?.();
    this.#reading.delete(attempt);
  }

  /** Milliseconds for which the thread stood still until now, since the first `watch`. */
  get stalledMs(): number {
    return this.#stalledMs;
  }

  /**
   * Milliseconds for which the thread stood still since a moment; while something is watched all the time.
   *
   * @param stalledMs that of the moment
   */
  stalledSince(at: number, stalledMs: number): number {
    const now = this.#timers.elapsed();
    // Data that waited may be read before the look that is overdue.
    const open = this.#stop === null ? 0 : gapOf(now - Math.max(at, this.#lastLook));
    return Math.min(now - at, this.#stalledMs - stalledMs + open);
  }

  close(): void {
    for (const attempt of [...this.#watched]) {
      this.forget(attempt);
    }
    this.#stop?.();
    this.#stop = null;
  }

  #look(): void {
    const now = this.#timers.elapsed();
    this.#stalledMs += gapOf(now - this.#lastLook);
    const stoodStillSince = now - this.#lastLook > STALL_MS ? this.#lastLook : now;
    this.#lastLook = now;
    this.#lookAtEach(now, stoodStillSince);
    this.#idleLooks = this.#underWay === 0 ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks >= IDLE_LOOKS) this.close();
  }

  /** The end of an attempt may begin another one, which is added meanwhile. */
  #lookAtEach(now: number, stoodStillSince: number): void {
    const watched = this.#watched;
    let kept = 0;
    for (let at = 0; at < watched.length; at += 1) {
      const attempt = watched[at] as Watched;
      if (attempt.watchedBy !== this) continue;
      watched[kept] = attempt;
      kept += 1;
      if (attempt.dueAt > now || this.#reading.has(attempt)) continue;
      if (attempt.dueAt > stoodStillSince) this.#readFirst(attempt);
      else this.#expire(attempt, false);
    }
    watched.length = kept;
  }

  /** Lets the attempt live for as long as every look at its socket still finds something. */
  #readFirst(attempt: Watched): void {
    const received = attempt.received;
    const cancel = this.#timers.afterReads(() => {
      if (attempt.received > received) {
        this.#readFirst(attempt);
      } else {
        this.#expire(attempt, true);
      }
    });
    this.#reading.set(attempt, cancel);
  }

  #expire(attempt: Watched, hasStalled: boolean): void {
    this.forget(attempt);
    attempt.expire(hasStalled);
  }
}

function gapOf(ms: number): number {
  return ms > NOTED_GAP_MS ? ms - STEP_MS : 0;
}
