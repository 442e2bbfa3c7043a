import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import { OPERATIONS } from '../protocol/operations.ts';
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
  const answer = await transport.send({
    method: 'GET',
    path: OPERATIONS.health.path,
    body: null,
    timeoutMs: config.timeoutMs,
  });
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
