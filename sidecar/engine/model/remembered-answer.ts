import { ApiError } from '#protocol/errors.ts';
import type { IdempotencySlot, RememberedResult } from '../rows.ts';

/** A key came again with another payload (contract section 5). */
export class IdempotencyConflictError extends ApiError {
  constructor() {
    super('idempotency_conflict', 'the idempotencyKey was used with another payload');
  }
}

/** What the first call of the key was answered. @throws IdempotencyConflictError, and the failure that was kept */
export function rememberedAnswer(
  { fingerprint, result, failure }: RememberedResult,
  slot: Pick<IdempotencySlot, 'fingerprint'>,
): string {
  if (fingerprint !== slot.fingerprint) throw new IdempotencyConflictError();
  if (failure !== undefined) throw failure;
  return result;
}
