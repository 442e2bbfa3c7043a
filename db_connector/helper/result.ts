/** What the connector says to a call at once. */
export interface DbTicket {
  /** Names the call; empty where it was refused. */
  readonly Id: string;
  readonly Accepted: boolean;
  /** `code: message` where the call was refused, else empty. The callback gets the same as an error. */
  readonly Error: string;
}

/** The answer to a call. Look at `State` each time; the readers of `Database` take the rest out of it. */
export interface DbResult {
  /** That of the ticket; empty where the call was refused. */
  readonly Id: string;
  readonly State: 'ok' | 'error';
  /** HTTP status of the sidecar's signed answer; 0 where the answer is the connector's or the helper's own. */
  readonly Status: number;
  /** Error code; empty where `State` is `ok`. */
  readonly Code: string;
  /** The answer's JSON text: the result, or `{"error":{"code","message"}}`. */
  readonly Json: string;
}

/** Called exactly once, on a later tick. */
export type DbCallback = (result: DbResult) => unknown;

export function errorResult(code: string, message: string, id = ''): DbResult {
  return { Id: id, State: 'error', Status: 0, Code: code, Json: JSON.stringify({ error: { code, message } }) };
}

/** A call that the connector, or the helper itself, did not take. */
export function refusedTicket(code: string, message: string): DbTicket {
  return { Id: '', Accepted: false, Error: `${code}: ${message}` };
}

/** The error that a refused ticket stands for. */
export function resultOfRefusal(ticket: DbTicket): DbResult {
  const end = ticket.Error.indexOf(': ');
  return end === -1
    ? errorResult('internal', ticket.Error || 'the connector refused without a reason')
    : errorResult(ticket.Error.slice(0, end), ticket.Error.slice(end + 2));
}
