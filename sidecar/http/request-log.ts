import type { Log } from '../log.ts';
import { LOG_EVENT } from '../log-event.ts';

const SLOW_MS = 1000;
/** Lines a second, for ordinary requests and for refusals each; failures of the service to a key are always told. */
const LINES_PER_SECOND = 20;
const SUMMARY_MS = 10_000;

/** What a line says about a request. Never its payload, never a secret. */
export interface RequestFacts {
  readonly op: string;
  /** Empty before the envelope was read. */
  readonly kid: string;
  readonly address: string;
  readonly status: number;
  /** Empty for a success. */
  readonly code: string;
  readonly ms: number;
}

/**
 * One line a request, bounded: beyond a few lines a second requests are only counted, and a line every ten seconds says
 * how many there were, so that neither load nor an attack fills the disk.
 */
export class RequestLog {
  readonly #log: Log;
  readonly #monotonicNow: () => number;
  #second = 0;
  #lines = { ordinary: 0, refused: 0 };
  #skipped = { ordinary: 0, refused: 0 };
  #summaryAt = 0;

  constructor(log: Log, monotonicNow: () => number) {
    this.#log = log;
    this.#monotonicNow = monotonicNow;
  }

  write(facts: RequestFacts): void {
    // Strangers can be slow on purpose, and are told 503 where they are too many: neither may fill the disk.
    const isKnown = facts.kid !== '';
    if (facts.status >= 500 && isKnown) {
      this.#log.error('request', { event: LOG_EVENT.request, ...facts });
      return;
    }
    const kind = facts.status >= 400 ? 'refused' : 'ordinary';
    this.#turn();
    const isSlow = isKnown && facts.ms >= SLOW_MS;
    if (this.#lines[kind] >= LINES_PER_SECOND && !isSlow) {
      this.#skipped[kind] += 1;
      return;
    }
    this.#lines[kind] += 1;
    if (isSlow) this.#log.warn('slow request', { event: LOG_EVENT.request, ...facts });
    else this.#log.info('request', { event: LOG_EVENT.request, ...facts });
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
    this.#log.info('requests without a line of their own', { event: LOG_EVENT.requestsCounted, ...this.#skipped });
    this.#skipped = { ordinary: 0, refused: 0 };
  }
}
