/** The connector's immediate answer to a call. */
export interface DbTicket {
  /** Names the call; empty if it was refused. */
  readonly Id: string;
  readonly Accepted: boolean;
  /** `code: message` if the call was refused, else empty. The callback gets the same as an error. */
  readonly Error: string;
}

declare const rowType: unique symbol;

/**
 * The answer to a call. Look at `State` each time; the readers of `Database` take the rest out of it.
 * `R` is what the compiler knows of its rows.
 */
export interface DbResult<R = unknown> {
  readonly [rowType]?: R;
  /** Id of the ticket; empty if the call was refused. */
  readonly Id: string;
  readonly State: 'ok' | 'error';
  /** HTTP status of the sidecar's signed answer; 0 if the answer is the connector's or the helper's own. */
  readonly Status: number;
  /** Error code; empty if `State` is `ok`. */
  readonly Code: string;
  /** The answer's JSON text: the result, or `{"error":{"code","message"}}`. */
  readonly Json: string;
}

/** Result of a `Find`, a `FindWith` or an `Aggregate`. */
export interface PageResult<R = unknown> extends DbResult<R> {
  /** The query's `limit` asked for more rows than the sidecar puts into one answer, and there are more rows. */
  readonly Capped: boolean;
}

/** Result of a `First`: the row, or null if there is none, and after an error. */
export interface FirstResult<R = unknown> extends DbResult<R> {
  readonly Row: R | null;
}

/** Result of a `Value`: the value, or null if there is no such row, if it is NULL, and after an error. */
export interface ValueResult<V = unknown> extends DbResult {
  readonly Value: V | null;
}

/** Result of an `InsertAll`. After an error: how far it came. */
export interface InsertAllResult extends DbResult {
  /** How many rows are surely there, or surely wait in the write-behind queue: the first ones of the list. */
  readonly Done: number;
  /** How many rows after those the failed part held; `Code` tells whether they are there. The rest was not sent. */
  readonly Failed: number;
}

/** Called exactly once, on a later tick. */
export type DbCallback<T extends DbResult = DbResult> = (result: T) => unknown;

/** The end of a method's arguments: options, callback, both in this order, or nothing. */
export type Tail<O, R extends DbResult = DbResult> =
  | [callback?: DbCallback<R> | undefined]
  | [options: O | undefined, callback?: DbCallback<R> | undefined];

export function errorResult(code: string, message: string, id = ''): DbResult {
  return { Id: id, State: 'error', Status: 0, Code: code, Json: JSON.stringify({ error: { code, message } }) };
}

/** A call that the connector, or the helper itself, did not take. */
export function refusedTicket(code: string, message: string): DbTicket {
  return { Id: '', Accepted: false, Error: `${code}: ${message}` };
}

/** Ticket of several calls, or of a call that waits in the helper: nothing could be collected with it. */
export const UNNAMED_TICKET: DbTicket = Object.freeze({ Id: '', Accepted: true, Error: '' });

/** The error that a refused ticket stands for. */
export function resultOfRefusal(ticket: DbTicket): DbResult {
  const end = ticket.Error.indexOf(': ');
  return end === -1
    ? errorResult('internal', ticket.Error || 'the connector refused without a reason')
    : errorResult(ticket.Error.slice(0, end), ticket.Error.slice(end + 2));
}
