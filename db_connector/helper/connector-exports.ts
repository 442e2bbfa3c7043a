import type { OperationName } from './async-database.ts';
import type { DbTicket } from './result.ts';

/**
 * The exports of db_connector themselves, for scripts that do without the helper. On FXServer:
 * `const connector: DbConnectorExports = exports.db_connector`.
 *
 * A question may also be given as a list (`['find', '{…}']`), or as MessagePack bytes of either; the answer comes in the
 * form of the question. None of them throws or waits.
 */
export interface DbConnectorExports {
  /** Takes a call on, or says why not. `Json` is the operation's payload. */
  Call(question: { readonly Operation: OperationName; readonly Json: string }): DbTicket;
  /** The answer to a call, once; `pending` while there is none yet. Ask again on a later tick. */
  TakeResult(question: { readonly Id: string }): TakenResult;
  /** `Call` for a list of at most 512 questions: a ticket for each, in order. */
  CallMany(questions: readonly { readonly Operation: OperationName; readonly Json: string }[]): readonly DbTicket[];
  /** `TakeResult` for a list of at most 512 ids, in order. Null: at most 512 results that are ready, the oldest first. */
  TakeMany(ids: readonly string[] | null): readonly TakenResult[];
  /** How many milliseconds the sidecar's clock is ahead of this machine's. */
  ClockOffset(): number;
}

/** Answer of `TakeResult`: a result, or that there is none yet (`pending`), or no longer, or never was (`missing`). */
export interface TakenResult {
  readonly Id: string;
  readonly State: 'ok' | 'error' | 'pending' | 'missing';
  /** HTTP status of the sidecar's signed answer; 0 while there is none. */
  readonly Status: number;
  /** Error code; empty if there is no error. */
  readonly Code: string;
  /** The answer's JSON text; empty while there is none. */
  readonly Json: string;
}
