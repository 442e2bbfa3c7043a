import type { CallBounds } from '../engine/rows.ts';

/** A backup that asks the other boxes for something waits for several. */
const LOOK_MS = 2000;
const LOOK_TIMEOUT_MS = 5000;
/** Longest wait of a start for a database that is away. */
const FIRST_LOOK_MS = 2000;

/** Repeats a look at the database, one at a time. The next look retries a failed one; calls report a database that is away. */
export class Looks {
  readonly #look: (bounds: CallBounds) => Promise<unknown>;
  #timer: NodeJS.Timeout | null = null;
  /** Never rejects. */
  #running: Promise<void> | null = null;

  constructor(look: (bounds: CallBounds) => Promise<unknown>) {
    this.#look = look;
  }

  /** For a start. Resolves also if the database does not answer. */
  first(): Promise<void> {
    return this.soon(FIRST_LOOK_MS);
  }

  begin(): void {
    this.#timer ??= setInterval(() => void this.soon(), LOOK_MS).unref();
  }

  /** Joins a look that still runs. Never rejects. */
  soon(timeoutMs = LOOK_TIMEOUT_MS): Promise<void> {
    this.#running ??= this.#look({ deadline: performance.now() + timeoutMs })
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  /** No look begins after this; resolves when the running one has ended. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }
}
