import { ApiError } from '#protocol/errors.ts';
import type { IdempotencySlot, RememberedResult } from '../rows.ts';

/** An idempotency key was used again with another payload (contract section 5). */
export class IdempotencyConflictError extends ApiError {
  constructor() {
    super('idempotency_conflict', 'the idempotencyKey was used with another payload');
  }
}

/** Answer to the first call with the key. @throws IdempotencyConflictError, and the failure that was stored */
export function rememberedAnswer(
  { fingerprint, result, failure }: RememberedResult,
  slot: Pick<IdempotencySlot, 'fingerprint'>,
): string {
  if (fingerprint !== slot.fingerprint) throw new IdempotencyConflictError();
  if (failure !== undefined) throw failure;
  return result;
}
