import { fingerprint } from '#protocol/canonical-json.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Writable } from '#protocol/json.ts';
import { IDEMPOTENCY_MEMORY_MS } from '#protocol/limits.ts';
import type { OperationName } from '#protocol/operations.ts';
import { keyOfNonce, type SharedNonce } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import { IdempotencyConflictError, rememberedAnswer } from '../engine/model/remembered-answer.ts';
import type { CallBounds, IdempotencySlot } from '../engine/rows.ts';
import type { CallContext } from './call-context.ts';

export interface KeyedPayload {
  readonly namespace: string;
  readonly idempotencyKey?: string | undefined;
}

export function slotOf(operation: OperationName, payload: KeyedPayload, context: CallContext): IdempotencySlot | null {
  const { namespace, idempotencyKey } = payload;
  if (idempotencyKey === undefined) return null;
  return {
    kid: context.kid,
    namespace,
    key: idempotencyKey,
    // Properties that are left out are absent in a payload that was parsed.
    fingerprint: fingerprint(operation, payload as unknown as Writable),
    now: context.expiryNow ?? context.now,
    expiresAt: context.now + IDEMPOTENCY_MEMORY_MS,
  };
}

/** Slot of a write without key whose nonce other sidecars would accept too. */
export function slotOfNonce(
  shared: SharedNonce,
  namespace: string,
  { kid, now, expiryNow = now }: Pick<CallContext, 'kid' | 'now' | 'expiryNow'>,
): IdempotencySlot {
  const { fingerprint, expiresAt } = shared;
  return { kid, namespace, key: keyOfNonce(shared), fingerprint, now: expiryNow, expiresAt };
}

/** @throws ApiError `unauthorized` for a nonce of another request */
export async function once(write: Promise<string>): Promise<string> {
  try {
    return await write;
  } catch (error) {
    throw error instanceof IdempotencyConflictError ? usedNonce() : error;
  }
}

export function usedNonce(): ApiError {
  return new ApiError('unauthorized', 'not authorized');
}

/** Calls of one key run one after another, so that a second call finds the result of the first. */
export class Twins {
  readonly #underWay = new Map<string, Promise<unknown>>();

  async run(slot: IdempotencySlot, work: () => Promise<string>): Promise<string> {
    const id = JSON.stringify([slot.kid, slot.namespace, slot.key]);
    for (let twin = this.#underWay.get(id); twin !== undefined; twin = this.#underWay.get(id)) await twin;
    const running = work();
    const settled = running.catch(() => {});
    this.#underWay.set(id, settled);
    try {
      return await running;
    } finally {
      if (this.#underWay.get(id) === settled) this.#underWay.delete(id);
    }
  }
}

/**
 * Runs a live write with an idempotency key (contract section 5). The engine looks the key up in the write's own
 * transaction, so the memory is read here only if a call does not get that far: what was done once is answered even
 * if the table is gone by now.
 */
export async function recallOnRefusal(
  engine: Engine,
  slot: IdempotencySlot,
  bounds: CallBounds,
  write: () => string | Promise<string>,
): Promise<string> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const remembered = await engine.recall(slot.kid, slot.namespace, slot.key, slot.now, bounds);
    if (remembered === null) throw error;
    return rememberedAnswer(remembered, slot);
  }
}
