import type { SlotClaim } from '../queues.ts';

/** Record of an idempotency key, as the database has it. */
export interface KnownRecord {
  readonly fingerprint: string;
  readonly result: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Name of the slot of a claim among those of one namespace. */
export function claimKey({ slot }: SlotClaim): string {
  return `${slot.kid} ${slot.key}`;
}

/**
 * `own`: the record is the claim's, so its entry is to be applied. `done`: another write with the same payload has the
 * slot. `conflict`: a write with another payload has it.
 */
export function outcomeOfClaim({ slot, answer }: SlotClaim, record: KnownRecord): 'own' | 'done' | 'conflict' {
  if (record.result === answer) return 'own';
  return record.fingerprint === slot.fingerprint ? 'done' : 'conflict';
}
