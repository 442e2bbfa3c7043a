import { ApiError } from '#protocol/errors.ts';
import type { Write } from '../rows.ts';

/** Of a write that is repeated because of a twin, or of a record of its slot that expires in the very moment. */
export const MAX_TWIN_ATTEMPTS = 3;

/**
 * Two upserts of one new row may meet at another unique index than that of the keys, which the server calls a violation.
 * At the next attempt the row is there.
 */
export function isMaybeTwin(write: Write, error: unknown): boolean {
  return write.op === 'upsert' && error instanceof ApiError && error.code === 'constraint_violation';
}
