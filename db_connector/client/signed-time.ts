import { OPERATIONS } from '../protocol/operations.ts';
import type { ApiRequest } from './api-request.ts';
import type { Result } from './outcome.ts';

/** A signed `health` whose answer tells the time. */
export const TIME_REQUEST: ApiRequest = {
  path: OPERATIONS.health.path,
  payload: '{"for":"clock"}',
  timeoutMs: null,
  isRepeatable: true,
};

/**
 * Unix seconds; `refused` if the request was not accepted, as with a wrong clock; `untold` if the answer is signed but holds no
 * time, as the key may not use `health` or the sidecar is older.
 */
export type SignedTime = number | 'refused' | 'untold';

/** @throws Error whose message says why there is no answer */
export function signedTimeOf({ state, status, code, json }: Result): SignedTime {
  const answer: unknown = JSON.parse(json);
  if (state === 'ok') {
    const time = (answer as { time?: unknown } | null)?.time;
    return Number.isSafeInteger(time) ? Number(time) : 'untold';
  }
  if (status === 0 && code === 'unauthorized') return 'refused';
  if (code === 'forbidden') return 'untold';
  throw new Error(String((answer as { error?: { message?: unknown } } | null)?.error?.message));
}
