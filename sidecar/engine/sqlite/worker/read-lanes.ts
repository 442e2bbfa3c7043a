import { ApiError } from '#protocol/errors.ts';
import type { WorkerLink } from './link.ts';
import type { PendingCall } from './pending-call.ts';

/** What runs longer leaves the quick lane and is run again in a slower one. */
const QUICK_BUDGET_MS = 20;
/** What runs longer leaves the middle lane. */
const MIDDLE_BUDGET_MS = 250;
const MAX_BATCH = 64;
/** With a batch in it for longer than this the quick reader is short of time, and idle ones help. */
const HELP_AFTER_MS = 3;

/**
 * Reads in lanes. The first reader runs what is quick, in batches; every statement there has a budget, and one that
 * overruns it is run again by one of the other readers, which run one statement at a time. The first of those, where
 * there are several, has a larger budget; the rest let a statement run to its deadline. So a scan of a million rows
 * delays no find by key and no search of a moment, and a shape not seen before is tried where it delays nobody for long.
 */
export class ReadLanes {
  readonly #quick: WorkerLink;
  readonly #slow: readonly WorkerLink[];
  readonly #onTimeout: () => void;
  #quickQueue: PendingCall[] = [];
  #slowQueue: PendingCall[] = [];
  #sentAt = 0;
  #isFlushing = false;

  constructor(quick: WorkerLink, slow: readonly WorkerLink[], onTimeout: () => void) {
    this.#quick = quick;
    this.#slow = slow;
    this.#onTimeout = onTimeout;
  }

  /** Calls of one turn of the event loop go out together. */
  add(pending: PendingCall): void {
    (costOf(pending) >= QUICK_BUDGET_MS ? this.#slowQueue : this.#quickQueue).push(pending);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.flush();
    });
  }

  moveToSlow(calls: readonly PendingCall[]): void {
    this.#slowQueue.push(...calls);
  }

  flush(): void {
    const hasSlowLane = this.#slow.length > 0;
    this.#flushQuick(hasSlowLane ? QUICK_BUDGET_MS : null);
    const [middle, ...others] = hasSlowLane ? this.#slow : [this.#quick];
    for (const link of others) this.#sendNext(link, Number.POSITIVE_INFINITY);
    if (middle !== undefined) this.#sendNext(middle, others.length > 0 ? MIDDLE_BUDGET_MS : Number.POSITIVE_INFINITY);
  }

  /** The next call that should not take longer than the budget. */
  #sendNext(link: WorkerLink, budgetMs: number): void {
    if (link.outstanding > 0) return;
    const isBounded = Number.isFinite(budgetMs);
    const at = isBounded ? this.#slowQueue.findIndex((pending) => costOf(pending) < budgetMs) : 0;
    const next = at < 0 ? [] : this.#slowQueue.splice(at, 1);
    if (next.length > 0) link.send(next, isBounded ? budgetMs : null);
  }

  #flushQuick(budgetMs: number | null): void {
    const now = performance.now();
    // One batch at a time: what arrives meanwhile makes the next one larger, and a message costs more than a find by key.
    if (this.#quickQueue.length > 0 && this.#quick.outstanding === 0) {
      this.#quick.send(this.#quickQueue.splice(0, MAX_BATCH), budgetMs);
      this.#sentAt = now;
    }
    if (this.#quickQueue.length === 0 || now - this.#sentAt < HELP_AFTER_MS) return;
    const helper = this.#slow.find((link) => link.outstanding === 0);
    helper?.send(this.#quickQueue.splice(0, MAX_BATCH), budgetMs);
  }

  /** Ends what waited beyond its deadline, and what waits behind a read that hangs goes to another reader. */
  sweep(now: number): void {
    for (const link of [this.#quick, ...this.#slow]) this.#quickQueue.unshift(...link.takeWaiting(now));
    this.#quickQueue = this.#stillWaiting(this.#quickQueue, now);
    this.#slowQueue = this.#stillWaiting(this.#slowQueue, now);
    this.flush();
  }

  #stillWaiting(queue: PendingCall[], now: number): PendingCall[] {
    if (queue.every((pending) => pending.deadline > now)) return queue;
    return queue.filter((pending) => {
      if (pending.deadline > now) return true;
      this.#onTimeout();
      pending.reject(new ApiError('database_timeout', 'the database was busy until the time was over'));
      return false;
    });
  }

  get waiting(): number {
    return this.#quickQueue.length + this.#slowQueue.length;
  }

  get running(): number {
    return [this.#quick, ...this.#slow].reduce((sum, link) => sum + link.outstanding, 0);
  }
}

/** What a call is expected to take; one that never ran is expected to be quick. */
function costOf({ isLong, statements }: PendingCall): number {
  if (isLong) return Number.POSITIVE_INFINITY;
  return statements.reduce((most, { costMs }) => Math.max(most, costMs ?? 0), 0);
}
