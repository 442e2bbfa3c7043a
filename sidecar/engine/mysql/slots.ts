import type { IdempotencySlot } from '../rows.ts';
import type { Session } from '../sql/session.ts';
import { SlotTakenError } from '../sql/slots.ts';
import { DUPLICATE_ENTRY, errnoOf } from './failures.ts';

const REMEMBER =
  'INSERT INTO _idempotency (kid, namespace, `key`, fingerprint, result, expires_at) VALUES (?, ?, ?, ?, ?, ?)';
const FORGET = 'DELETE FROM _idempotency WHERE kid = ? AND namespace = ? AND `key` = ? AND expires_at <= ?';

/**
 * Last in the transaction of its write. Waits for a twin that is under way.
 * @throws SlotTakenError where there is a record already; one that has expired is replaced
 */
export async function remember(session: Session, slot: IdempotencySlot, result: string): Promise<void> {
  const { kid, namespace, key, fingerprint, now, expiresAt } = slot;
  const row = [kid, namespace, key, fingerprint, result, BigInt(expiresAt)];
  try {
    await session.prepared(REMEMBER, row);
    return;
  } catch (error) {
    if (errnoOf(error) !== DUPLICATE_ENTRY) throw error;
  }
  const { affected } = await session.prepared(FORGET, [kid, namespace, key, BigInt(now)]);
  if (affected === 0) throw new SlotTakenError();
  await session.prepared(REMEMBER, row);
}
