import { LOG_EVENT } from '#sidecar/log-event.ts';
import type { EngineLog } from '../log.ts';

/** A disk that is nearly full refuses some writes and takes others. */
const MIN_REPEAT_MS = 60_000;

/** What must succeed before a trouble counts as over: any call, or a write. */
export type TroubleScope = 'connection' | 'write';

interface Told {
  readonly scope: TroubleScope;
  readonly atMs: number;
  isOver: boolean;
}

/** Tells the owner of what the database cannot do: one line a kind of trouble until it works again. */
export class TroubleLog {
  readonly #log: EngineLog;
  readonly #told = new Map<string, Told>();
  #open = 0;

  constructor(log: EngineLog) {
    this.#log = log;
  }

  /** `detail` is what the server or the system says, without values of rows or secrets. */
  report(trouble: string, scope: TroubleScope, advice: string, detail: string): void {
    const told = this.#told.get(trouble);
    if (told !== undefined && (!told.isOver || performance.now() - told.atMs < MIN_REPEAT_MS)) return;
    this.#told.set(trouble, { scope, atMs: performance.now(), isOver: false });
    this.#open += 1;
    this.#log('error', `the database failed: ${advice}`, { trouble, detail });
  }

  /** To be called after whatever succeeds. */
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

/** The database is not for this program, whatever is tried: start is refused with this line, which holds no secret. */
export class UnusableDatabaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableDatabaseError';
  }
}

const FIRST_FRAME = /^ {4}at .*$/m;

/** For the log: what kind of fault it was and where, without its message, which may quote what it could not take. */
export function faultPlace(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${FIRST_FRAME.exec(error.stack ?? '')?.[0].trim() ?? 'somewhere'}`;
}

/** Names the columns of the violated key, never values; null if the database does not tell which key it was. */
export function duplicateMessage(columns: readonly string[] | null): string {
  const what = columns === null ? 'these values' : `this ${columns.join(' and ')}`;
  return `a row with ${what} already exists`;
}
