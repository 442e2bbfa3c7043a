import type { DatabaseHost } from './host.ts';
import { readErrorMessage } from './readers.ts';
import type { DbCallback, DbResult } from './result.ts';

/** The same failure is told again after this long, with how often it happened meanwhile. */
const QUIET_MS = 10_000;
/** More kinds of failures than this are not told apart for longer; names of tables may come from players. */
const MAX_KINDS = 1000;

interface Told {
  atMs: number;
  untold: number;
}

/** A fault of the script is told once for each place and name, and no more than this many. */
const MAX_FAULTS = 1000;

/** Hands results to the script's callbacks, and tells the console what would be lost without a trace. */
export class Deliveries {
  readonly #host: Pick<DatabaseHost, 'name' | 'log'>;
  readonly #told = new Map<string, Told>();
  readonly #faults = new Set<string>();

  constructor(host: Pick<DatabaseHost, 'name' | 'log'>) {
    this.#host = host;
  }

  /**
   * @param what names the call in a line, such as `Find game.characters`
   * @returns never throws, also if the callback does
   */
  to(what: string, callback: DbCallback | undefined): (result: DbResult) => void {
    if (callback === undefined) return (result) => this.#tellError(what, result);
    return (result) => {
      try {
        const returned = callback(result);
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#tellThrow(what, error));
      } catch (error) {
        this.#tellThrow(what, error);
      }
    };
  }

  /** A name in an argument that means nothing: told even if the script looks at the error, since it is never expected. */
  tellFault(what: string, message: string): void {
    const fault = `${what}: ${message}`;
    if (this.#faults.has(fault) || this.#faults.size >= MAX_FAULTS) return;
    this.#faults.add(fault);
    this.#host.log(`bundle ${this.#host.name}: ${fault}`);
    // A call without a callback has no second line for it.
    this.#told.set(`${what} invalid_request`, { atMs: performance.now(), untold: 0 });
  }

  #tellThrow(what: string, error: unknown): void {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#tell(`the callback of ${what} threw`, reason);
  }

  /** The error of a call without a callback would be seen nowhere else. */
  #tellError(what: string, result: DbResult): void {
    if (result.State === 'ok') return;
    this.#tell(`${what} failed`, readErrorMessage(result), `${what} ${result.Code}`);
  }

  #tell(event: string, reason: string, kind = `${event} ${reason}`): void {
    const now = performance.now();
    const told = this.#told.get(kind);
    if (told !== undefined && now - told.atMs < QUIET_MS) {
      told.untold += 1;
      return;
    }
    const more = told === undefined || told.untold === 0 ? '' : ` (and ${told.untold} times before)`;
    this.#host.log(`bundle ${this.#host.name}: ${event}${more}: ${reason}`);
    if (this.#told.size >= MAX_KINDS) this.#told.clear();
    this.#told.set(kind, { atMs: now, untold: 0 });
  }
}
