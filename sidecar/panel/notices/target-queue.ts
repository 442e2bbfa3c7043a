import { AttemptLimit } from '../attempt-limit.ts';
import type { NoticeTargetState, QuietHours } from '../shapes/notices.ts';
import type { Delivery } from './delivery/delivery.ts';
import { EventWindows } from './event-windows.ts';
import type { UnsentNotice } from './notice.ts';
import { isQuiet, type QuietEvent, QuietTime } from './quiet-time.ts';

const MOST_WAITING = 200;
const A_MINUTE = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rests after failed tries; the last one is repeated. */
const RETRY_MS = [5000, 15_000, 60_000, 300_000, 900_000] as const;
const RETRIED_STATUS: readonly (number | null)[] = [408, 425, 429];
const RETRIED_FAULTS: readonly unknown[] = ['dns', 'connect', 'tls', 'timeout', 'exit'];

export interface TargetQueueOptions {
  readonly quiet: QuietHours | null;
  /** Takes until the target has answered, at most its own limit. */
  readonly deliver: (notice: UnsentNotice, signal: AbortSignal) => Promise<Delivery>;
  readonly digestOf: (events: readonly QuietEvent[]) => UnsentNotice;
  readonly onDropped: (notice: UnsentNotice, cause: string) => void;
  /** Every try of the last 24 hours has failed; told once a day. */
  readonly onFailingDay: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
}

interface Waiting {
  readonly notice: UnsentNotice;
  readonly sinceMs: number;
  tries: number;
}

/** Notices on their way to one target: in order, one at a time, again after a failure, for an hour at most. */
export class TargetQueue {
  readonly #options: TargetQueueOptions;
  readonly #windows: EventWindows;
  readonly #quietTime: QuietTime;
  readonly #rate: AttemptLimit;
  readonly #end = new AbortController();
  readonly #waiting: Waiting[];
  #isTrying = false;
  #nextTryMs = 0;
  #failingSinceMs: number | null = null;
  #dropped = 0;
  #lastOkAt: string | null = null;
  #lastTryAt: string | null = null;
  #lastError: string | null = null;

  /** @param earlier queue of the same target before its owner changed it: what waits there goes on here, with a try at once */
  constructor(options: TargetQueueOptions, earlier: TargetQueue | null = null) {
    this.#options = options;
    this.#windows = earlier === null ? new EventWindows() : earlier.#windows;
    this.#quietTime = earlier === null ? new QuietTime() : earlier.#quietTime;
    this.#waiting = earlier === null ? [] : earlier.#waiting.map((waiting) => ({ ...waiting, tries: 0 }));
    this.#rate = new AttemptLimit(A_MINUTE, options.monotonicNow, MINUTE_MS);
  }

  get state(): NoticeTargetState {
    const [lastOkAt, lastTryAt, lastError] = [this.#lastOkAt, this.#lastTryAt, this.#lastError];
    return { lastOkAt, lastTryAt, lastError, waiting: this.#waiting.length, dropped: this.#dropped };
  }

  tell(notice: UnsentNotice): void {
    const { quiet, now, monotonicNow } = this.#options;
    const isHeld = quiet !== null && isQuiet(quiet, now()) && !(quiet.errors && notice.level === 'error');
    if (isHeld) {
      this.#quietTime.add(notice);
      return;
    }
    const atOnce = this.#windows.take(notice, monotonicNow());
    if (atOnce !== null) this.#add(atOnce);
  }

  /** Sends what is due. Called twice a second; a test moves the clocks. */
  look(): void {
    const { quiet, now, monotonicNow, digestOf } = this.#options;
    const nowMs = monotonicNow();
    for (const notice of this.#windows.due(nowMs)) this.#add(notice);
    const isOver = quiet === null || !isQuiet(quiet, now());
    if (isOver && !this.#quietTime.isEmpty) this.#add(digestOf(this.#quietTime.end()));
    const [first] = this.#waiting;
    if (first === undefined || this.#isTrying || nowMs < this.#nextTryMs) return;
    if (this.#rate.blockedSeconds('') === 0) void this.#try(first);
  }

  /** Notes a try that was made beside the queue. */
  note({ delivered, error, status }: Delivery): void {
    const time = new Date(this.#options.now()).toISOString();
    this.#lastTryAt = time;
    if (delivered) {
      this.#lastOkAt = time;
      this.#lastError = null;
    } else this.#lastError = [error, status].filter((part) => part !== null).join(' ');
  }

  /** Gives up all that waits. */
  close(): void {
    this.#end.abort();
    this.#waiting.length = 0;
  }

  #add(notice: UnsentNotice): void {
    this.#waiting.push({ notice, sinceMs: this.#options.monotonicNow(), tries: 0 });
    if (this.#waiting.length <= MOST_WAITING) return;
    // The first may be on its way just now.
    const [oldest] = this.#waiting.splice(this.#isTrying ? 1 : 0, 1);
    if (oldest !== undefined) this.#drop(oldest, `more than ${MOST_WAITING} wait`);
  }

  async #try(first: Waiting): Promise<void> {
    const { deliver, monotonicNow } = this.#options;
    this.#isTrying = true;
    this.#rate.count('');
    const result = await deliver(first.notice, this.#end.signal);
    this.#isTrying = false;
    if (this.#end.signal.aborted) return;
    this.note(result);
    const nowMs = monotonicNow();
    if (result.delivered) {
      this.#failingSinceMs = null;
      this.#nextTryMs = 0;
      this.#waiting.shift();
      return;
    }
    const restMs = result.retryAfterMs ?? RETRY_MS[Math.min(first.tries, RETRY_MS.length - 1)] ?? 0;
    first.tries += 1;
    this.#nextTryMs = nowMs + Math.min(restMs, HOUR_MS);
    if (!isRetried(result) || nowMs - first.sinceMs >= HOUR_MS) {
      this.#waiting.shift();
      this.#drop(first, this.#lastError ?? '');
      if (!isRetried(result)) this.#nextTryMs = 0;
    }
    this.#tellFailing(nowMs);
  }

  #drop({ notice }: Waiting, cause: string): void {
    this.#dropped += 1;
    this.#options.onDropped(notice, cause);
  }

  #tellFailing(nowMs: number): void {
    this.#failingSinceMs ??= nowMs;
    if (nowMs - this.#failingSinceMs < DAY_MS) return;
    this.#failingSinceMs = nowMs;
    this.#options.onFailingDay();
  }
}

/** The same try may succeed later. */
function isRetried({ error, status }: Delivery): boolean {
  if (error !== 'status') return RETRIED_FAULTS.includes(error);
  return RETRIED_STATUS.includes(status) || (status ?? 0) >= 500;
}
