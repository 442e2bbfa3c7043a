import type { ConnectorErrorCode } from '../protocol/errors.ts';

/** Result of a call, as TakeResult returns it. */
export interface Result {
  readonly state: 'ok' | 'error';
  /** HTTP status of a signed answer, else 0. */
  readonly status: number;
  readonly code: string;
  /** JSON text: the result, or `{"error":{"code","message"}}`. */
  readonly json: string;
}

/** A result together with what it says about the way to the API. */
export interface Outcome {
  readonly result: Result;
  /** How the circuit breaker counts it; `nothing` if the game itself was to blame. */
  readonly transport: 'success' | 'failure' | 'nothing';
  /** The next attempt: again after a pause, again with the clock set, at another address if there is one, or none. */
  readonly next: 'again' | 'setClock' | 'elsewhere' | 'nothing';
  /** From `Retry-After`; null if the answer names none. */
  readonly retryAfterMs: number | null;
}

/** An error of the connector's own: Status 0. */
export function errorResult(code: ConnectorErrorCode, message: string): Result {
  return { state: 'error', status: 0, code, json: JSON.stringify({ error: { code, message } }) };
}
