import { ApiError } from '../../db_connector/protocol/errors.ts';
import { IDEMPOTENCY_MEMORY_MS } from '../../db_connector/protocol/limits.ts';
import type { PayloadOf } from '../../db_connector/protocol/payloads.ts';
import type { IdempotencySlot, RememberedResult } from '../engine/engine.ts';
import { rememberedAnswer } from '../engine/remembered-answer.ts';
import { isAway } from '../schema/catalog.ts';
import type { CallContext } from './call-context.ts';
import type { DataCalls, DataOptions } from './data-calls.ts';
import { drainDeadline } from './drain-deadline.ts';
import { recallOnRefusal, slotOf, Twins } from './idempotency.ts';
import { type WriteContext, type WriteName, writeOf } from './write-of.ts';
import type { WriteQueue } from './write-queue.ts';

/** How long a keyed write that is to be queued waits for what the database remembers of its key. */
const RECALL_MS = 1000;

/** A write of one call. */
interface Call<Op extends WriteName> {
  readonly op: Op;
  readonly payload: PayloadOf<Op>;
  readonly context: CallContext;
  readonly slot: IdempotencySlot | null;
}

/** Runs writes: at once, or into the queue where their namespace is buffered (contract sections 5 and 7). */
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
    const { queue } = this.#options;
    const call = { op, payload, context, slot: slotOf(op, payload, context) };
    const { slot } = call;
    if (queue === null) {
      return slot === null ? this.#live(call) : this.#twins.run(slot, () => this.#keyedLive(call, slot));
    }
    const isQueued = payload.durability === undefined && queue.isBuffered(payload.namespace);
    if (slot === null) return isQueued ? this.#accept(call, queue) : this.#drained(call, queue);
    return this.#twins.run(slot, async () => {
      const known = queue.recall(slot);
      if (known !== null) return known;
      return isQueued ? this.#keyedAccept(call, slot, queue) : this.#keyedDrained(call, slot, queue);
    });
  }

  #live<Op extends WriteName>({ op, payload, context, slot }: Call<Op>): Promise<string> {
    const { engine, limits } = this.#options;
    return this.#calls.onTable(payload, 'write', context, async (target, bounds) => {
      const write = writeOf(op, payload, target.table, this.#meaning(context, limits.maxInsertRows));
      return engine.write(target, write, slot, bounds);
    });
  }

  #keyedLive<Op extends WriteName>(call: Call<Op>, slot: IdempotencySlot): Promise<string> {
    return recallOnRefusal(this.#options.engine, slot, this.#calls.bounds(call.context), () => this.#live(call));
  }

  /** The write comes after what was queued before it. */
  async #drained<Op extends WriteName>(call: Call<Op>, queue: WriteQueue): Promise<string> {
    await this.#drain(call, queue);
    return this.#live(call);
  }

  async #keyedDrained<Op extends WriteName>(call: Call<Op>, slot: IdempotencySlot, queue: WriteQueue): Promise<string> {
    await this.#drain(call, queue);
    const result = await this.#keyedLive(call, slot);
    if (queue.isBuffered(slot.namespace)) queue.note(slot, result);
    return result;
  }

  async #drain({ payload, context }: Call<WriteName>, queue: WriteQueue): Promise<void> {
    if (queue.mustDrain(payload.namespace)) await queue.drain(payload.namespace, drainDeadline(context));
  }

  async #accept<Op extends WriteName>({ op, payload, context, slot }: Call<Op>, queue: WriteQueue): Promise<string> {
    const { limits } = this.#options;
    const { namespace } = payload;
    try {
      return await this.#calls.onTableForQueue(payload, context, (target) => {
        const write = writeOf(op, payload, target.table, this.#meaning(context, limits.maxInsertRows));
        return queue.accept({ namespace, kid: context.kid, op, payload: context.text, work: { target, write }, slot });
      });
    } catch (error) {
      if (!isAway(error)) throw error;
      const reason = `the database does not answer, and the schema of namespace ${namespace} is not known without it`;
      throw new ApiError('write_buffer_unavailable', `${reason}; the write was not accepted`);
    }
  }

  async #keyedAccept<Op extends WriteName>(call: Call<Op>, slot: IdempotencySlot, queue: WriteQueue): Promise<string> {
    const ownedMs = slot.now - queue.ownedSince(slot.namespace);
    const older = ownedMs < IDEMPOTENCY_MEMORY_MS ? await this.#recallOlder(slot, call.context) : null;
    return older === null ? this.#accept(call, queue) : rememberedAnswer(older, slot);
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

  #meaning({ now }: CallContext, maxInsertRows: number): WriteContext {
    return { capabilities: this.#options.engine.capabilities, maxInsertRows, now };
  }
}
