/** Waits for something, but only until its deadline. */
export interface Expiring {
  /** `performance.now()` milliseconds. */
  readonly deadline: number;
  /** Called at most once, at the deadline or soon after. */
  expire(): void;
}

/** A single timer for many deadlines: nearly all that wait are done long before theirs, so a timer for each would be the dear part. */
export class Deadlines {
  readonly #waiting = new Set<Expiring>();
  #timer: NodeJS.Timeout | undefined;
  /** Moment of the timer; infinity without one. */
  #dueAt = Number.POSITIVE_INFINITY;

  add(item: Expiring): void {
    this.#waiting.add(item);
    if (item.deadline < this.#dueAt) this.#start(item.deadline);
  }

  /** Also for an item that has expired. */
  delete(item: Expiring): void {
    this.#waiting.delete(item);
  }

  /** The item may be done before, so the timer keeps no process alive. */
  #start(dueAt: number): void {
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.ceil(dueAt - performance.now()))).unref();
  }

  #look(): void {
    const now = performance.now();
    const late: Expiring[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const item of this.#waiting) {
      if (item.deadline <= now) late.push(item);
      else next = Math.min(next, item.deadline);
    }
    for (const item of late) this.#waiting.delete(item);
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (next < this.#dueAt) this.#start(next);
    for (const item of late) item.expire();
  }
}
