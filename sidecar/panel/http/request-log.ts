import type { Log } from '#sidecar/log.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';

const LINES_PER_SECOND = 20;

/** What a line says about a request: the route's own path, never the one that was sent, a body, a header or a cookie. */
export interface RequestFacts {
  readonly method: string;
  readonly route: string;
  /** Empty where nobody is signed in. */
  readonly username: string;
  readonly address: string;
  readonly status: number;
  readonly error: string;
  readonly ms: number;
}

/** A line for each action and each refusal, bounded, so that no stranger fills the disk. */
export class RequestLog {
  readonly #log: Log;
  #second = 0;
  #lines = 0;
  #skipped = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  write(facts: RequestFacts): void {
    if (facts.method === 'GET' && facts.status < 400) return;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#turn(second);
    this.#lines += 1;
    if (this.#lines > LINES_PER_SECOND) this.#skipped += 1;
    else this.#log[facts.status >= 500 ? 'error' : 'info']('panel request', { event: LOG_EVENT.request, ...facts });
  }

  #turn(second: number): void {
    this.#second = second;
    this.#lines = 0;
    if (this.#skipped > 0) this.#log.info('panel requests without a line of their own', { skipped: this.#skipped });
    this.#skipped = 0;
  }
}
