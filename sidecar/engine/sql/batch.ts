import { ApiError } from '#protocol/errors.ts';
import {
  type Batch,
  type BatchOperation,
  batchResult,
  checkExpected,
  failedResult,
  type IdsOf,
  idsIn,
  isDeferred,
  writeIn,
} from '../batch.ts';
import { rememberedAnswer } from '../model/remembered-answer.ts';
import { type CallBounds, type IdempotencySlot, StaleSchemaError, type TableTarget, type Write } from '../rows.ts';
import { type AlikeUpdates, alikeUpdates } from './alike-updates.ts';
import { affectedResult, isMaybeTwin, MAX_TWIN_ATTEMPTS } from './change.ts';
import type { SqlDialect } from './dialect.ts';
import type { Session, Sessions, SqlFailure } from './session.ts';
import { recall, SlotTakenError } from './slots.ts';

/** Differences between PostgreSQL and MySQL for a batch inside its transaction. */
export interface BatchParts {
  readonly dialect: SqlDialect;
  /** Runs a write. JSON text of its result. */
  runWrite(session: Session, target: TableTarget, write: Write): Promise<string>;
  /** Number of rows that each update matched; null if that cannot be known. */
  runAlike(session: Session, updates: AlikeUpdates): Promise<readonly number[] | null>;
  classify(error: unknown): SqlFailure;
  /** Last in the transaction. @throws SlotTakenError */
  remember(session: Session, slot: IdempotencySlot, result: string): Promise<void>;
}

const MAX_SLOT_ATTEMPTS = 3;

/** A batch in one transaction, with the record of its slot; deadlocks and the like are repeated as a whole. */
export async function runBatch(
  sessions: Sessions,
  parts: BatchParts,
  batch: Batch,
  slot: IdempotencySlot | null,
  bounds: CallBounds,
): Promise<string> {
  const { namespace } = batch;
  let mayGroup = true;
  for (let twins = 1, taken = 1; ; ) {
    const attempt = new BatchAttempt(parts, batch, mayGroup);
    try {
      return await sessions.transaction({ ...bounds, namespace }, async (session) => {
        attempt.begin();
        const remembered = slot === null ? null : await recall(parts.dialect, session, slot);
        if (slot !== null && remembered !== null) return rememberedAnswer(remembered, slot);
        const result = await attempt.run(session);
        if (slot !== null) await parts.remember(session, slot, result);
        return result;
      });
    } catch (error) {
      if (error instanceof SlotTakenError && taken < MAX_SLOT_ATTEMPTS) taken += 1;
      else if (error instanceof GroupRefusedError) mayGroup = false;
      else if (attempt.isMaybeTwin(error) && twins < MAX_TWIN_ATTEMPTS) twins += 1;
      else throw attempt.named(error);
    }
  }
}

/** An update of a grouped statement is refused; which one is known only after they run one by one. */
class GroupRefusedError extends ApiError {}

function isViolation(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'constraint_violation';
}

class BatchAttempt {
  readonly #parts: BatchParts;
  readonly #batch: Batch;
  readonly #mayGroup: boolean;
  #results: string[] = [];
  /** Index of the running operation; null before the first and after the last. */
  #at: number | null = null;

  constructor(parts: BatchParts, batch: Batch, mayGroup: boolean) {
    this.#parts = parts;
    this.#batch = batch;
    this.#mayGroup = mayGroup;
  }

  /** The transaction may be run again as a whole. */
  begin(): void {
    this.#results = [];
    this.#at = null;
  }

  async run(session: Session): Promise<string> {
    await (this.#batch.isAtomic ? this.#runFrom(session) : this.#runEach(session));
    this.#at = null;
    return batchResult(this.#results);
  }

  /** Adds the index of the operation that failed, if an operation failed. */
  named(error: unknown): unknown {
    if (this.#at === null || !(error instanceof ApiError) || error.index !== undefined) return error;
    return error.inOperation(this.#at);
  }

  isMaybeTwin(error: unknown): boolean {
    const operation = this.#at === null ? undefined : this.#batch.operations[this.#at];
    if (operation === undefined || operation instanceof ApiError) return false;
    const { write } = operation;
    // The kind of a deferred write is known only with its ids: another attempt does no harm.
    return isDeferred(write) ? isViolation(error) : isMaybeTwin(write, error);
  }

  readonly #idsOf: IdsOf = (operation) => idsIn(this.#results[operation] ?? '');

  /** Starts at the first operation without a result; the first failure ends it. */
  async #runFrom(session: Session): Promise<void> {
    const { operations } = this.#batch;
    while (this.#results.length < operations.length) {
      this.#at = this.#results.length;
      const group = this.#mayGroup ? alikeUpdates(operations, this.#at) : null;
      await (group === null ? this.#runNext(session) : this.#runGroup(session, group));
    }
  }

  async #runGroup(session: Session, group: AlikeUpdates): Promise<void> {
    const counts = await this.#parts.runAlike(session, group).catch((error: unknown) => {
      throw this.#refusalOf(error) === null ? error : new GroupRefusedError('constraint_violation', 'one is refused');
    });
    if (counts === null)
      throw new GroupRefusedError('conflict_retry', 'others have made such a row in the very moment');
    for (const count of counts) {
      this.#at = this.#results.length;
      const result = affectedResult(count);
      checkExpected(result, (this.#batch.operations[this.#at] as BatchOperation).expected);
      this.#results.push(result);
    }
  }

  async #runNext(session: Session): Promise<void> {
    const operation = this.#batch.operations[this.#results.length];
    if (operation === undefined || operation instanceof ApiError) throw operation ?? new Error('no operation is left');
    const write = writeIn(operation, this.#idsOf);
    const result = await this.#parts.runWrite(session, operation.target, write);
    checkExpected(result, operation.expected);
    this.#results.push(result);
  }

  /** All operations share one savepoint until one fails; from the first failure on, each has its own. */
  async #runEach(session: Session): Promise<void> {
    const { operations } = this.#batch;
    if (operations.every((operation) => !(operation instanceof ApiError))) {
      if ((await this.#attempt(session, () => this.#runFrom(session))) === null) return;
      this.#results = [];
    }
    while (this.#results.length < operations.length) {
      this.#at = this.#results.length;
      const operation = operations[this.#at] as BatchOperation | ApiError;
      const refusal = operation instanceof ApiError ? operation : await this.#attemptOne(session, operation);
      if (refusal !== null) this.#results.push(failedResult(refusal));
    }
  }

  async #attemptOne(session: Session, { write }: BatchOperation): Promise<ApiError | null> {
    for (let attempt = 1; ; attempt += 1) {
      const refusal = await this.#attempt(session, () => this.#runNext(session));
      if (refusal === null || attempt === MAX_TWIN_ATTEMPTS) return refusal;
      if (isDeferred(write) || !isMaybeTwin(write, refusal)) return refusal;
    }
  }

  /** Null if the work is done, else why nothing of it is. */
  async #attempt(session: Session, work: () => Promise<void>): Promise<ApiError | null> {
    await session.query('SAVEPOINT operations');
    try {
      await work();
      await session.query('RELEASE SAVEPOINT operations');
      return null;
    } catch (error) {
      const refusal = this.#refusalOf(error);
      if (refusal === null) throw error;
      await session.query('ROLLBACK TO SAVEPOINT operations');
      return refusal;
    }
  }

  /** Null for a failure that is not the operation's fault, or that may pass. */
  #refusalOf(error: unknown): ApiError | null {
    if (error instanceof StaleSchemaError) return null;
    if (error instanceof GroupRefusedError) return error;
    if (error instanceof ApiError) return error.status < 500 && error.code !== 'conflict_retry' ? error : null;
    const failure = this.#parts.classify(error);
    return failure.kind === 'refused' ? new ApiError(failure.code, failure.message) : null;
  }
}
