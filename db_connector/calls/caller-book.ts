import type { Result } from '../client/outcome.ts';

/** Number of calls whose latency is kept, for each caller. */
const SAMPLES = 200;
/** Bundles come and go while a server runs for weeks; those beyond share one line. */
const MAX_CALLERS = 200;
const OTHERS = '(others)';
/** The host does not tell who calls. */
const NOT_TOLD = '(not told)';

/** Figures of a caller in `db-status`. */
export interface CallerFigures {
  readonly caller: string;
  /** Accepted. */
  readonly calls: number;
  /** Accepted, and ended with an error. */
  readonly errors: number;
  /** Not accepted. */
  readonly refused: number;
  /** From `Call` to the result, of the last 200 calls: 95 % took no longer. 0 if none has ended. */
  readonly p95Ms: number;
}

class Page {
  calls = 0;
  errors = 0;
  refused = 0;
  ended = 0;
  readonly #tookMs = new Float64Array(SAMPLES);

  note(tookMs: number): void {
    this.#tookMs[this.ended % SAMPLES] = tookMs;
    this.ended += 1;
  }

  get p95Ms(): number {
    const sorted = this.#tookMs.slice(0, Math.min(this.ended, SAMPLES)).sort();
    return Math.round(sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0);
  }
}

/** Calls of each caller since the start. */
export class CallerBook {
  readonly #pages = new Map<string, Page>();

  accepted(caller: string | null): void {
    this.#page(caller).calls += 1;
  }

  refused(caller: string | null): void {
    this.#page(caller).refused += 1;
  }

  ended(caller: string | null, { state }: Result, tookMs: number): void {
    const page = this.#page(caller);
    if (state === 'error') page.errors += 1;
    page.note(tookMs);
  }

  /** Callers with most calls first. */
  figures(): CallerFigures[] {
    return [...this.#pages]
      .map(([caller, { calls, errors, refused, p95Ms }]) => ({ caller, calls, errors, refused, p95Ms }))
      .sort((a, b) => b.calls + b.refused - (a.calls + a.refused) || (a.caller < b.caller ? -1 : 1));
  }

  #page(caller: string | null): Page {
    const name = caller ?? NOT_TOLD;
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    if (this.#pages.size >= MAX_CALLERS && name !== OTHERS) return this.#page(OTHERS);
    const page = new Page();
    this.#pages.set(name, page);
    return page;
  }
}
