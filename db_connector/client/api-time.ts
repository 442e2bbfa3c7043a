import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import { isInstance } from '../protocol/envelope.ts';
import { OPERATIONS } from '../protocol/operations.ts';
import type { ApiRequest } from './attempt.ts';
import type { Result } from './outcome.ts';
import type { Transport } from './transport.ts';

/** The probe's answer is not signed. */
const MAX_PROBE_BYTES = 4096;

/** Answer of the public probe. It is not signed, so nothing but a first guess may follow from it. */
export interface Probe {
  /** Unix seconds. */
  readonly seconds: number;
  /** Id of the sidecar; null if it tells none. */
  readonly instance: string | null;
}

/**
 * Asks the API's public probe.
 *
 * @throws Error whose message says why there is no time
 */
export async function probe(config: DatabaseConfig, transport: Transport): Promise<Probe> {
  if (!isHostAllowed(config)) {
    throw new Error(`the host ${config.target.host} is not in allowedHosts`);
  }
  const answer = await transport.get(OPERATIONS.health.path, config.timeoutMs);
  if (answer.kind === 'noAnswer') {
    throw new Error(answer.reason);
  }
  const probed = answer.kind === 'answer' && answer.status === 200 ? probeOf(answer.body) : null;
  if (probed === null) {
    throw new Error('GET /v1/health answers with something else than a time');
  }
  return probed;
}

function probeOf(body: Buffer): Probe | null {
  if (body.length > MAX_PROBE_BYTES) return null;
  const text = body.toString();
  try {
    const { time, instance } = JSON.parse(text);
    return Number.isSafeInteger(time) ? { seconds: time, instance: isInstance(instance) ? instance : null } : null;
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
