import { LOG_EVENT } from '#sidecar/log-event.ts';
import type { EngineLog } from '../log.ts';

/** A disk that is nearly full refuses some writes and accepts others: do not log each change of state. */
const MIN_REPEAT_MS = 60_000;

/** Kind of call that must succeed before a trouble counts as over: any call, or a write. */
export type TroubleScope = 'connection' | 'write';

interface Told {
  readonly scope: TroubleScope;
  readonly atMs: number;
  isOver: boolean;
}

/** Log of troubles with the database, for the owner: one line for each kind of trouble until it is over. */
export class TroubleLog {
  readonly #log: EngineLog;
  readonly #told = new Map<string, Told>();
  #open = 0;

  constructor(log: EngineLog) {
    this.#log = log;
  }

  /** `detail` is the message of the server or the system, without values of rows or secrets. */
  report(trouble: string, scope: TroubleScope, advice: string, detail: string): void {
    const told = this.#told.get(trouble);
    if (told !== undefined && (!told.isOver || performance.now() - told.atMs < MIN_REPEAT_MS)) return;
    this.#told.set(trouble, { scope, atMs: performance.now(), isOver: false });
    this.#open += 1;
    this.#log('error', `the database failed: ${advice}`, { trouble, detail });
  }

  /** Call after every success. */
  succeeded(scope: TroubleScope): void {
    if (this.#open === 0) return;
    for (const told of this.#told.values()) {
      if (told.isOver || (scope === 'connection' && told.scope === 'write')) continue;
      told.isOver = true;
      this.#open -= 1;
    }
    if (this.#open === 0) this.#log('info', 'the database works again', { event: LOG_EVENT.recovered });
  }
}

/**
 * A database that this program must not use, whatever it tries. The start is refused with this message, which holds no
 * secret.
 */
export class UnusableDatabaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableDatabaseError';
  }
}

const FIRST_FRAME = /^ {4}at .*$/m;

/** Kind and place of a fault, for the log. Without its message, which may quote a value. */
export function faultPlace(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${FIRST_FRAME.exec(error.stack ?? '')?.[0].trim() ?? 'somewhere'}`;
}

/** Message that names the columns of the violated key, never values; null if the database does not name the key. */
export function duplicateMessage(columns: readonly string[] | null): string {
  const what = columns === null ? 'these values' : `this ${columns.join(' and ')}`;
  return `a row with ${what} already exists`;
}
