import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import { OPERATIONS } from '../protocol/operations.ts';
import type { ApiRequest } from './attempt.ts';
import type { Result } from './outcome.ts';
import type { Transport } from './transport.ts';

/**
 * The Unix seconds that the API's public probe tells. It is not signed, so nothing but a first guess may follow from it.
 *
 * @throws Error whose message says why there is no time
 */
export async function probeSeconds(config: DatabaseConfig, transport: Transport): Promise<number> {
  if (!isHostAllowed(config)) {
    throw new Error(`the host ${config.target.host} is not in allowedHosts`);
  }
  const answer = await transport.get(OPERATIONS.health.path, config.timeoutMs);
  if (answer.kind === 'noAnswer') {
    throw new Error(answer.reason);
  }
  const seconds = answer.kind === 'answer' && answer.status === 200 ? secondsOf(answer.body.toString()) : null;
  if (seconds === null) {
    throw new Error('GET /v1/health answers with something else than a time');
  }
  return seconds;
}

function secondsOf(text: string): number | null {
  try {
    const time: unknown = JSON.parse(text)?.time;
    return Number.isSafeInteger(time) ? Number(time) : null;
  } catch {
    return null;
  }
}

/** A signed `health` whose answer tells the time. */
export const TIME_REQUEST: ApiRequest = {
  path: OPERATIONS.health.path,
  payload: '{"for":"clock"}',
  timeoutMs: null,
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
