import { ApiError } from '#protocol/errors.ts';
import { Turns } from '#sidecar/turns.ts';
import type { WorkerLink } from './link.ts';
import type { PendingCall } from './pending-call.ts';

/** Maximum time in the quick lane; a slower lane runs a longer read again. */
const QUICK_BUDGET_MS = 20;
/** Maximum time in the middle lane. */
const MIDDLE_BUDGET_MS = 250;
const MAX_BATCH = 64;
/** Idle readers help if the quick reader has had its batch for longer than this. */
const HELP_AFTER_MS = 3;
/** The same while the quick reader starts: a second thread that starts beside it would only slow both down. */
const HELP_STARTING_MS = 500;

/**
 * Reads in lanes. The first reader runs quick reads in batches. Every statement there has a budget; a statement that
 * overruns it is run again by another reader, one statement at a time. The first of several other readers has a larger
 * budget; the rest let a statement run to its deadline. So a scan of a million rows delays no quick read, and an unknown
 * statement is tried where it delays others only briefly. Slow reads of several callers run by turns.
 */
export class ReadLanes {
  readonly #quick: WorkerLink;
  readonly #slow: readonly WorkerLink[];
  readonly #onTimeout: () => void;
  #quickQueue: PendingCall[] = [];
  readonly #slowQueue = new Turns<PendingCall>();
  #sentAt = 0;
  #isFlushing = false;

  constructor(quick: WorkerLink, slow: readonly WorkerLink[], onTimeout: () => void) {
    this.#quick = quick;
    this.#slow = slow;
    this.#onTimeout = onTimeout;
  }

  /** Calls of one turn of the event loop go out together. */
  add(pending: PendingCall): void {
    if (costOf(pending) >= QUICK_BUDGET_MS) this.#slowQueue.add(pending.caller, pending);
    else this.#quickQueue.push(pending);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.flush();
    });
  }

  moveToSlow(calls: readonly PendingCall[]): void {
    for (const pending of calls) this.#slowQueue.add(pending.caller, pending);
  }

  flush(): void {
    if (this.waiting === 0) return;
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
    const next = this.#slowQueue.take(isBounded ? { fits: (pending) => costOf(pending) < budgetMs } : {});
    if (next !== undefined) link.send([next], isBounded ? budgetMs : null);
  }

  #flushQuick(budgetMs: number | null): void {
    const now = performance.now();
    // Only one batch is on its way: later reads make the next batch larger, and a message costs more than a find by key.
    if (this.#quickQueue.length > 0 && this.#quick.outstanding === 0) {
      this.#quick.send(this.#quickQueue.splice(0, MAX_BATCH), budgetMs);
      this.#sentAt = now;
    }
    const helpAfterMs = this.#quick.hasDone ? HELP_AFTER_MS : HELP_STARTING_MS;
    if (this.#quickQueue.length === 0 || now - this.#sentAt < helpAfterMs) return;
    const helper = this.#slow.find((link) => link.outstanding === 0);
    helper?.send(this.#quickQueue.splice(0, MAX_BATCH), budgetMs);
  }

  /** Rejects reads past their deadline, and moves reads that wait behind a slow one to another reader. */
  sweep(now: number): void {
    for (const link of [this.#quick, ...this.#slow]) this.#quickQueue.unshift(...link.takeWaiting(now));
    if (this.waiting === 0) return;
    const isLate = ({ deadline }: PendingCall): boolean => deadline <= now;
    const late = [...this.#quickQueue.filter(isLate), ...[...this.#slowQueue].filter(isLate)];
    if (late.length > 0) this.#quickQueue = this.#quickQueue.filter((pending) => !isLate(pending));
    for (const pending of late) {
      this.#slowQueue.delete(pending.caller, pending);
      this.#onTimeout();
      pending.reject(new ApiError('database_timeout', 'the database was busy until the time was over'));
    }
    this.flush();
  }

  get waiting(): number {
    return this.#quickQueue.length + this.#slowQueue.size;
  }

  get running(): number {
    return [this.#quick, ...this.#slow].reduce((sum, link) => sum + link.outstanding, 0);
  }
}

/** Expected time of a call; a call that never ran is expected to be quick. */
function costOf({ isLong, statements }: PendingCall): number {
  if (isLong) return Number.POSITIVE_INFINITY;
  return statements.reduce((most, { costMs }) => Math.max(most, costMs ?? 0), 0);
}
