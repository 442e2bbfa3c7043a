import type { Log } from '../log.ts';
import { LOG_EVENT } from '../log-event.ts';

const SLOW_MS = 1000;
/** Lines a second, for ordinary requests and for refusals each; failures of the service to a known caller always have a line. */
const LINES_PER_SECOND = 20;
const SUMMARY_MS = 10_000;

/** Fields of a line about a request of the API or the panel. Never its payload or body, a header, a path as sent, a secret. */
export interface RequestFacts {
  readonly address: string;
  readonly status: number;
  readonly ms: number;
  /** API: empty before the envelope was read. */
  readonly op?: string;
  readonly kid?: string;
  /** API: empty for a success. */
  readonly code?: string;
  readonly method?: string;
  /** Panel: the route's own path. */
  readonly route?: string;
  /** Panel: empty before sign-in. */
  readonly username?: string;
  /** Panel: empty for a success. */
  readonly error?: string;
}

export interface LineWording {
  /** Message of a line. */
  readonly message: string;
  /** A request that took longer has a warning. */
  readonly slowMs: number;
}

/**
 * A line for each request, bounded: beyond a few lines a second requests are only counted, and a line every ten seconds says
 * how many there were, so that neither load nor an attack fills the disk.
 */
export class RequestLog {
  readonly #log: Log;
  readonly #monotonicNow: () => number;
  readonly #wording: LineWording;
  #second = 0;
  #lines = { ordinary: 0, refused: 0 };
  #skipped = { ordinary: 0, refused: 0 };
  #summaryAt = 0;

  constructor(log: Log, monotonicNow: () => number, wording: LineWording = { message: 'request', slowMs: SLOW_MS }) {
    this.#log = log;
    this.#monotonicNow = monotonicNow;
    this.#wording = wording;
  }

  write(facts: RequestFacts): void {
    // Strangers can be slow on purpose, and get 503 if they are too many: neither may fill the disk.
    const { message, slowMs } = this.#wording;
    const isKnown = (facts.kid ?? facts.username ?? '') !== '';
    if (facts.status >= 500 && isKnown) {
      this.#log.error(message, { event: LOG_EVENT.request, ...facts });
      return;
    }
    const kind = facts.status >= 400 ? 'refused' : 'ordinary';
    this.#turn();
    const isSlow = isKnown && facts.ms >= slowMs;
    if (this.#lines[kind] >= LINES_PER_SECOND && !isSlow) {
      this.#skipped[kind] += 1;
      return;
    }
    this.#lines[kind] += 1;
    if (isSlow) this.#log.warn(`slow ${message}`, { event: LOG_EVENT.request, ...facts });
    else this.#log.info(message, { event: LOG_EVENT.request, ...facts });
  }

  /** A new second has its own lines. */
  #turn(): void {
    const nowMs = this.#monotonicNow();
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#lines = { ordinary: 0, refused: 0 };
    if (nowMs - this.#summaryAt < SUMMARY_MS || this.#skipped.ordinary + this.#skipped.refused === 0) return;
    this.#summaryAt = nowMs;
    const { message } = this.#wording;
    this.#log.info(`${message}s without a line of their own`, { event: LOG_EVENT.requestsCounted, ...this.#skipped });
    this.#skipped = { ordinary: 0, refused: 0 };
  }
}
