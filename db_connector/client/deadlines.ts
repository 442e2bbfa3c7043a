import type { Cancel, Timers } from './timers.ts';

const STEP_MS = 20;
/** From here on a gap between two looks means that the game thread stood still (contract section 8). */
const STALL_MS = 250;
/** From here on a gap is counted in what is said of slow calls; shorter ones are a tick's ordinary work. */
const NOTED_GAP_MS = 60;

/** A moment from which it is measured how long the game thread stood still. */
export interface StallMark {
  readonly at: number;
  /** All gaps until then. */
  readonly stalledMs: number;
}

/** Something under way that must end at `dueAt`, in the `elapsed` of the timers. */
export interface Watched {
  readonly dueAt: number;
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
  readonly #watched = new Set<Watched>();
  readonly #reading = new Map<Watched, Cancel>();
  #lastLook = 0;
  /** All gaps between looks so far. */
  #stalledMs = 0;
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  watch(attempt: Watched): void {
    this.#watched.add(attempt);
    if (this.#stop === null) {
      this.#lastLook = this.#timers.elapsed();
      this.#stop = this.#timers.every(STEP_MS, () => this.#look());
    }
  }

  forget(attempt: Watched): void {
    this.#watched.delete(attempt);
    this.#reading.get(attempt)?.();
    this.#reading.delete(attempt);
  }

  mark(): StallMark {
    return { at: this.#timers.elapsed(), stalledMs: this.#stalledMs };
  }

  /** Milliseconds for which the thread stood still since the mark; while something is watched all the time. */
  stalledSince({ at, stalledMs }: StallMark): number {
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
    for (const attempt of this.#watched) {
      if (attempt.dueAt > now || this.#reading.has(attempt)) {
        continue;
      }
      if (attempt.dueAt > stoodStillSince) {
        this.#readFirst(attempt);
      } else {
        this.#expire(attempt, false);
      }
    }
    if (this.#watched.size === 0) {
      this.#stop?.();
      this.#stop = null;
    }
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
