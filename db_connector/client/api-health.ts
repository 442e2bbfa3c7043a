import { OPERATIONS } from '../protocol/operations.ts';
import type { ApiRequest } from './attempt.ts';
import type { Outcome, Result } from './outcome.ts';

/** A signed `health` that asks whether calls may go to an address. */
export const WELLNESS_REQUEST: ApiRequest = {
  path: OPERATIONS.health.path,
  payload: '{"for":"address"}',
  timeoutMs: null,
};

/**
 * Null if the health that was answered is good, else what is wrong. Undefined if nothing follows from the outcome: the game
 * thread stood still, or the clock is not set yet.
 */
export function troubleOf({ result, transport, next }: Outcome): string | null | undefined {
  if (result.state === 'ok') return troubleIn(objectOf(result.json));
  // A signed refusal: the key may not ask, yet the sidecar is there.
  if (result.code === 'forbidden') return null;
  return transport === 'nothing' || next === 'setClock' ? undefined : messageOf(result);
}

/** Message of an error, in the words of its sender. */
export function messageOf({ code, json }: Result): string {
  const { error } = objectOf(json);
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' ? `${code}: ${message}` : code;
}

/** From HealthResult. The answer is signed, yet of another version maybe. */
function troubleIn({ database, takesNoWrites, writeBuffer }: Record<string, unknown>): string | null {
  if (database === false) return 'its database does not answer';
  if (takesNoWrites === 'noStandby') return 'its database acknowledges no write: no synchronous standby confirms';
  if (takesNoWrites !== undefined) return 'its database takes no writes';
  const { available, halted } = (writeBuffer ?? {}) as Record<string, unknown>;
  if (available === false) return 'it cannot write its journal';
  return halted === true ? 'its queue is halted' : null;
}

function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
