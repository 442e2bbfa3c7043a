import { ApiError } from '#protocol/errors.ts';
import { IDEMPOTENCY_MEMORY_MS } from '#protocol/limits.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import { batchResult, failedResult } from '../engine/batch.ts';
import { rememberedAnswer } from '../engine/model/remembered-answer.ts';
import type { IdempotencySlot, RememberedResult } from '../engine/rows.ts';
import { isAway } from '../schema/catalog.ts';
import { batchOf, checkNoExpect, checkParts, queuedBatchOf } from './batch-of.ts';
import { type CallContext, drainDeadline } from './call-context.ts';
import type { DataCalls, DataOptions } from './data-calls.ts';
import { type KeyedPayload, once, recallOnRefusal, slotOf, slotOfNonce, Twins } from './idempotency.ts';
import { type WriteContext, type WriteName, writeOf } from './write-of.ts';
import type { WriteQueue } from './write-queue.ts';

/** How long a keyed write that is to be queued waits for what the database remembers of its key. */
const RECALL_MS = 1000;

interface QueueablePayload extends KeyedPayload {
  readonly durability?: 'immediate' | undefined;
}

/** A write of one call. */
interface Call {
  readonly namespace: string;
  readonly context: CallContext;
  /** The caller gave an idempotency key. */
  readonly isKeyed: boolean;
  /** That of the key, or of a nonce that other sidecars accept. */
  readonly slot: IdempotencySlot | null;
  /** Runs it at once. */
  live(): string | Promise<string>;
  /** Validates it and puts it into the queue. */
  accept(queue: WriteQueue): Promise<string>;
}

/** Runs writes: at once, or into the queue if their namespace is buffered (contract sections 5 and 7). */
export class Writes {
  readonly #options: DataOptions;
  readonly #calls: DataCalls;
  readonly #twins = new Twins();
  /** `performance.now()` until which a database that was away is not asked for keys again. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: DataOptions, calls: DataCalls) {
    this.#options = options;
    this.#calls = calls;
  }

  run<Op extends WriteName>(op: Op, payload: PayloadOf<Op>, context: CallContext): Promise<string> {
    const { namespace } = payload;
    const isKeyed = payload.idempotencyKey !== undefined;
    const slot = this.#slotOf(op, payload, context);
    const meaning = this.#meaning(context);
    const live = () =>
      this.#calls.onTable(payload, 'write', context, (target, bounds) =>
        this.#options.engine.write(target, writeOf(op, payload, target.table, meaning), slot, bounds),
      );
    const accept = (queue: WriteQueue): Promise<string> =>
      this.#calls.onTableForQueue(payload, context, (target) => {
        const work = { target, write: writeOf(op, payload, target.table, meaning) };
        return queue.accept({ namespace, kid: context.kid, op, payload: context.text, work, slot });
      });
    return this.#run({ namespace, context, isKeyed, slot, live, accept }, payload.durability === undefined);
  }

  /** @throws ApiError `unsupported_operation` for an atomic one without transactions, before anything is looked up */
  batch(payload: PayloadOf<'batch'>, context: CallContext): Promise<string> {
    const { engine, queue } = this.#options;
    const { namespace } = payload;
    const isQueued = payload.durability === undefined && queue?.isBuffered(namespace) === true;
    if (payload.atomic !== false && !engine.capabilities.transactions) {
      const message = 'this database has no transactions: send atomic: false, each operation is for itself then';
      throw new ApiError('unsupported_operation', message);
    }
    if (payload.atomic === false || isQueued) checkNoExpect(payload);
    const isKeyed = payload.idempotencyKey !== undefined;
    const slot = this.#slotOf('batch', payload, context);
    const tables = new Set(payload.operations.map(({ table }) => table));
    const live = (): Promise<string> =>
      this.#calls.onTables(namespace, tables, context, async (targets, bounds) => {
        const batch = batchOf(payload, targets, this.#meaning(context), { mayRefer: true });
        const refusals = batch.operations.filter((operation) => operation instanceof ApiError);
        await this.#calls.checkRefusals(namespace, refusals, bounds);
        // Nothing of it is done, and failures are not remembered.
        if (refusals.length === batch.operations.length) return batchResult(refusals.map(failedResult));
        return engine.batch(batch, slot, bounds);
      });
    const accept = (into: WriteQueue): Promise<string> =>
      this.#calls.onTablesForQueue(namespace, tables, context, (targets) => {
        const work = queuedBatchOf(payload, targets, this.#meaning(context));
        checkParts(work);
        return into.accept({ namespace, kid: context.kid, op: 'batch', payload: context.text, work, slot });
      });
    return this.#run({ namespace, context, isKeyed, slot, live, accept }, payload.durability === undefined);
  }

  #slotOf(op: WriteName | 'batch', payload: QueueablePayload, context: CallContext): IdempotencySlot | null {
    const { sharedNonce } = context;
    if (!sharedNonce || payload.idempotencyKey !== undefined) return slotOf(op, payload, context);
    const slot = slotOfNonce(sharedNonce, payload.namespace, context);
    const isQueued = payload.durability === undefined && this.#options.queue?.isBuffered(payload.namespace) === true;
    // A queued write may be applied long after the request has expired everywhere.
    return isQueued ? { ...slot, expiresAt: Math.max(slot.expiresAt, context.now + IDEMPOTENCY_MEMORY_MS) } : slot;
  }

  #run(call: Call, mayWait: boolean): Promise<string> {
    const { slot, namespace, isKeyed } = call;
    const isQueued = mayWait && this.#options.queue?.isBuffered(namespace) === true;
    if (slot === null) return this.#unkeyed(call, isQueued);
    return isKeyed
      ? this.#twins.run(slot, () => this.#keyed(call, slot, isQueued))
      : once(isQueued ? this.#unkeyed(call, true) : this.#keyed(call, slot, false));
  }

  async #unkeyed(call: Call, isQueued: boolean): Promise<string> {
    const { queue } = this.#options;
    if (isQueued && queue !== null) return this.#accept(call, queue);
    if (queue?.mustDrain(call.namespace) === true) await this.#drain(call, queue);
    return call.live();
  }

  async #keyed(call: Call, slot: IdempotencySlot, isQueued: boolean): Promise<string> {
    const { engine, queue } = this.#options;
    const known = queue?.recall(slot) ?? null;
    if (known !== null) return known;
    if (isQueued && queue !== null) {
      const ownedMs = slot.now - queue.ownedSince(slot.namespace);
      const older = ownedMs < IDEMPOTENCY_MEMORY_MS ? await this.#recallOlder(slot, call.context) : null;
      return older === null ? this.#accept(call, queue) : rememberedAnswer(older, slot);
    }
    if (queue?.mustDrain(slot.namespace) === true) await this.#drain(call, queue);
    const result = await recallOnRefusal(engine, slot, this.#calls.bounds(call.context), () => call.live());
    if (queue?.isBuffered(slot.namespace) === true) queue.note(slot, result);
    return result;
  }

  /** A live write runs after the writes that were queued before it. */
  #drain({ namespace, context }: Call, queue: WriteQueue): Promise<void> {
    return queue.drain(namespace, drainDeadline(context));
  }

  async #accept(call: Call, queue: WriteQueue): Promise<string> {
    try {
      return await call.accept(queue);
    } catch (error) {
      if (!isAway(error)) throw error;
      const reason = `the database does not answer, and the schema of namespace ${call.namespace} is not known without it`;
      throw new ApiError('write_buffer_unavailable', `${reason}; the write was not accepted`);
    }
  }

  /**
   * Keys of writes that ran live before the namespace was buffered are known to the database alone. One that is away is
   * not waited for: such a key at such a time is rarer than a write that must not wait.
   */
  async #recallOlder(slot: IdempotencySlot, context: CallContext): Promise<RememberedResult | null> {
    const now = performance.now();
    if (now < this.#restUntilMs) return null;
    try {
      const deadline = Math.min(this.#calls.bounds(context).deadline, now + RECALL_MS);
      return await this.#options.engine.recall(slot.kid, slot.namespace, slot.key, slot.now, { deadline });
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#restUntilMs = performance.now() + RECALL_MS;
      return null;
    }
  }

  #meaning({ now }: CallContext): WriteContext {
    const { engine, limits } = this.#options;
    return { capabilities: engine.capabilities, maxInsertRows: limits.maxInsertRows, now };
  }
}
