import type { ServerTiming } from '../protocol/server-timing.ts';
import type { Deadlines, Watched } from './deadlines.ts';
import type { ExchangeEnd } from './exchange.ts';
import type { Outcome } from './outcome.ts';

export interface ApiRequest {
  /** The route's own constant; what is signed. */
  readonly path: string;
  /** The exact text that is signed and sent, the same for every attempt. */
  readonly payload: string;
  /** The operation's own limit for one attempt; null: that of the configuration. */
  readonly timeoutMs: number | null;
}

/** Connection that an attempt is under way on, or waits for. */
export interface AttemptCarrier {
  /** Bytes that came on it so far. */
  readonly received: number;
  expired(attempt: Attempt, hasStalled: boolean): void;
  /** Ends the attempt as one without answer; others on the connection go on. */
  abandon(attempt: Attempt): void;
}

/** Makes an outcome of the end of an exchange. */
interface AttemptJudge {
  judge(attempt: Attempt, end: ExchangeEnd, stalledMs: number): void;
  fault(attempt: Attempt, error: unknown): void;
}

/**
 * The record of a request, and of its attempt under way. It goes from the caller to the socket and back as it is: no promise and
 * no closure for each call.
 */
export abstract class Attempt implements Watched {
  readonly path: string;
  readonly payload: string;
  /** The operation may take longer than `timeoutMs` of the configuration. */
  readonly isLong: boolean;
  /** From the first byte sent to the last received; at first the operation's own, or 0. */
  timeoutMs: number;
  /** Unix seconds for which it is signed. */
  ts = 0;
  kid = '';
  nonce = '';
  sig = '';
  /** In the `elapsed` of the timers, as `dueAt`. */
  begunAt = 0;
  dueAt = 0;
  watchedBy: Deadlines | null = null;
  /** How long the thread had stood still in all when the attempt began. */
  stalledBeforeMs = 0;
  carriedBy: AttemptCarrier | null = null;
  judgedBy: AttemptJudge | null = null;

  constructor({ path, payload, timeoutMs }: ApiRequest) {
    this.path = path;
    this.payload = payload;
    this.isLong = timeoutMs !== null;
    this.timeoutMs = timeoutMs ?? 0;
  }

  get received(): number {
    return this.carriedBy?.received ?? 0;
  }

  expire(hasStalled: boolean): void {
    this.carriedBy?.expired(this, hasStalled);
  }

  /** Waits for an answer no longer, wherever the attempt is under way in this thread. */
  abandon(): void {
    this.carriedBy?.abandon(this);
  }

  /** The transport calls it once for each attempt. */
  exchanged(end: ExchangeEnd, stalledMs: number): void {
    this.judgedBy?.judge(this, end, stalledMs);
  }

  /** In place of `exchanged`: a fault of our own. */
  broke(error: unknown): void {
    this.judgedBy?.fault(this, error);
  }

  /**
   * @param stalledMs how long the thread stood still meanwhile
   * @param told the sidecar's own figures, which are not signed; null if it reports none
   */
  abstract ended(outcome: Outcome, stalledMs: number, told: ServerTiming | null): void;
  /** In place of `ended`: a fault of our own. */
  abstract failed(error: unknown): void;
}

/** An attempt by itself, that nothing counts. */
export class SingleAttempt extends Attempt {
  readonly outcome: Promise<Outcome>;
  readonly #settle = Promise.withResolvers<Outcome>();

  constructor(request: ApiRequest) {
    super(request);
    this.outcome = this.#settle.promise;
  }

  ended(outcome: Outcome): void {
    this.#settle.resolve(outcome);
  }

  failed(error: unknown): void {
    this.#settle.reject(error);
  }
}
