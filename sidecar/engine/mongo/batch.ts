import { ApiError } from '#protocol/errors.ts';
import { type Batch, type BatchOperation, batchResult, failedResult, isDeferred } from '../batch.ts';
import { isLasting } from '../model/queue-units.ts';
import type { IdempotencySlot } from '../rows.ts';

/** No request has this key id: names of keys have other letters. */
const OWN_KID = '~batch';
/** The records of the operations outlive that of the batch, which leads to them. */
const LONGER_MS = 60_000;

/**
 * Runs operations one after another, each by itself. A failure that may pass ends the batch; the operations before it
 * are done. With a key each operation has a record of its own beside that of the batch, so that a repeated call goes on
 * after the last finished operation and does nothing twice.
 * @param id id of the batch's record; null without a key
 * @param run runs one write, with the slot of its own record and its place in the batch
 */
export async function runBatch(
  { operations }: Batch,
  slot: IdempotencySlot | null,
  id: string | null,
  run: (operation: BatchOperation, slot: IdempotencySlot | null, place: number) => Promise<string>,
): Promise<string> {
  const results: string[] = [];
  for (const [place, operation] of operations.entries()) {
    results.push(await resultOf(operation, place));
  }
  return batchResult(results);

  async function resultOf(operation: BatchOperation | ApiError, place: number): Promise<string> {
    if (operation instanceof ApiError) return failedResult(operation);
    if (isDeferred(operation.write)) throw new Error('only an atomic batch has ids of earlier operations');
    try {
      return await run(operation, slot === null || id === null ? null : slotOf(slot, `${id}:${place}`), place);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isLasting(error)) throw error.inOperation(place);
      return failedResult(error);
    }
  }
}

function slotOf(slot: IdempotencySlot, key: string): IdempotencySlot {
  return { ...slot, kid: OWN_KID, key, expiresAt: slot.expiresAt + LONGER_MS };
}
