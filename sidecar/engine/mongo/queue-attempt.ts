import { ApiError } from '../../../db_connector/protocol/errors.ts';
import type { CallBounds, TableTarget } from '../engine.ts';
import {
  type DeadLetter,
  isLasting,
  type QueueBatch,
  type QueuedEntry,
  type QueuedWork,
  QueueLostError,
  type QueueUnit,
  unitsOf,
} from '../queues.ts';
import type { KnownNumbers } from './generators.ts';
import { changeTogether } from './queue-change-together.ts';
import { isAlike, type KeyedChange, keyedChangeOf } from './queue-changes.ts';
import { insertTogether } from './queue-insert.ts';
import { discardLetters, knownLetters, putLetter } from './queue-letters.ts';
import { JournalMarks } from './queue-marks.ts';
import { isOwner, movePosition, readQueue } from './queue-owner.ts';
import type { MongoSession } from './session.ts';
import { applyWrite } from './write.ts';
import type { QueuedOperation, WriteCall } from './write-call.ts';

/** The engine as the queue needs it. */
export interface QueueTools {
  run<T>(kind: 'read' | 'write', bounds: CallBounds, work: (session: MongoSession) => Promise<T>): Promise<T>;
  /** As long as the schema is the target's. @throws StaleSchemaError */
  onTable<T>(
    target: TableTarget,
    bounds: CallBounds,
    work: (session: MongoSession) => Promise<T>,
    /** Else it ends by the time that a live write has. */
    how: { readonly isLong: boolean },
  ): Promise<T>;
  readonly known: KnownNumbers;
}

/** Entries of which one attempt may have begun some behind the position: those of a unit. */
export const MAX_BEGUN = 1000;

/** Up to where the queue of a namespace is known to be as the row of the database says. */
export interface Progress {
  readonly journal: string;
  readonly token: number;
  readonly position: number;
  /** The next so many entries may be begun. */
  readonly inDoubt: number;
}

/** Changes of rows by one key, side by side. */
type Together = readonly [KeyedChange, ...KeyedChange[]];

type Step =
  | { readonly kind: 'unit'; readonly unit: QueueUnit }
  | { readonly kind: 'changes'; readonly changes: [KeyedChange, ...KeyedChange[]] };

/** One call of `applyQueue`: see `QueueApply`. */
export class QueueAttempt {
  readonly #tools: QueueTools;
  readonly #batch: QueueBatch;
  readonly #bounds: CallBounds;
  readonly #marks: JournalMarks;
  readonly #letters: DeadLetter[] = [];
  #position: number;
  #inDoubt: number;

  constructor(tools: QueueTools, batch: QueueBatch, bounds: CallBounds, from: Pick<Progress, 'position' | 'inDoubt'>) {
    this.#tools = tools;
    this.#batch = batch;
    this.#bounds = bounds;
    this.#marks = new JournalMarks(batch.journal);
    this.#position = from.position;
    this.#inDoubt = from.inDoubt;
  }

  get progress(): Progress {
    const { journal, token } = this.#batch;
    return { journal, token, position: this.#position, inDoubt: this.#inDoubt };
  }

  async run(): Promise<readonly DeadLetter[]> {
    const left = this.#batch.entries.filter(({ position }) => position > this.#position);
    const skipped = await this.#doneRetries(left);
    for (const step of this.#steps(left.filter((entry) => !skipped.has(entry)))) {
      if (step.kind === 'changes') await this.#change(step.changes);
      else await this.#apply(step.unit);
    }
    const last = left.at(-1);
    if (last !== undefined && skipped.has(last)) await this.#settle([last]);
    return this.#letters;
  }

  /** Their letters are gone. */
  async #doneRetries(entries: readonly QueuedEntry[]): Promise<ReadonlySet<QueuedEntry>> {
    const retries = entries.filter(({ isRetry }) => isRetry);
    if (retries.length === 0) return new Set();
    const ids = retries.map(({ letterId }) => letterId);
    const known = await this.#tools.run('read', this.#bounds, (session) => knownLetters(session, ids));
    return new Set(retries.filter(({ letterId }) => !known.has(letterId)));
  }

  #steps(entries: readonly QueuedEntry[]): Step[] {
    const steps: Step[] = [];
    for (const unit of unitsOf(entries)) {
      const change = keyedChangeOf(unit, (entry) => this.#operation(entry));
      const last = steps.at(-1);
      if (change === null) steps.push({ kind: 'unit', unit });
      else if (last?.kind === 'changes' && last.changes.length < MAX_BEGUN && isAlike(last.changes[0], change)) {
        last.changes.push(change);
      } else steps.push({ kind: 'changes', changes: [change] });
    }
    return steps;
  }

  async #change(changes: Together): Promise<void> {
    if (changes.length === 1) await this.#applyOrBury(changes[0].entry);
    else for (const { entry } of await this.#changeTogether(changes)) await this.#applyOrBury(entry, true);
    await this.#settle(changes.map(({ entry }) => entry));
  }

  /** Those that are left. */
  async #changeTogether(changes: Together): Promise<readonly KeyedChange[]> {
    try {
      return await this.#onTable(changes[0].target, (call) => changeTogether(call, changes));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return changes;
    }
  }

  async #apply({ entries, work }: QueueUnit): Promise<void> {
    const isTogether = 'write' in work && entries.length > 1;
    for (let left = entries; left.length > 0; ) {
      const done = isTogether ? await this.#insert(work, left) : 0;
      const next = left[done];
      if (next !== undefined) await this.#applyOrBury(next);
      const settled = left.slice(0, done + 1);
      await this.#settle(settled);
      left = left.slice(settled.length);
    }
  }

  /** How many entries are done. */
  async #insert({ target }: QueuedWork, entries: readonly QueuedEntry[]): Promise<number> {
    const insertions = entries.map((entry) => ({ entry, operation: this.#operation(entry) }));
    try {
      return await this.#onTable(target, (call) => insertTogether(call, insertions));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // One is refused, and nobody knows which: one after the other tells.
      this.#inDoubt = MAX_BEGUN;
      return 0;
    }
  }

  /** What can never be done is a dead letter before anything that comes after it is begun. */
  async #applyOrBury(entry: QueuedEntry, isResumed = this.#inDoubt > 0): Promise<void> {
    const failure = await this.#refusal(entry, isResumed);
    if (failure === null) return;
    const letter = letterFor(this.#batch, entry, failure);
    await this.#tools.run('write', this.#bounds, (session) => putLetter(session, letter));
    this.#letters.push(letter);
  }

  /** Null where it is done. */
  async #refusal(entry: QueuedEntry, isResumed: boolean): Promise<ApiError | null> {
    const { work } = entry;
    if (!('write' in work)) return work;
    const operation = this.#operation(entry, isResumed);
    try {
      await this.#onTable(work.target, (call) => applyWrite({ ...call, operation }, work.write));
      return null;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return error;
    }
  }

  #operation({ position }: QueuedEntry, isResumed = this.#inDoubt > 0): QueuedOperation {
    return { kind: 'queued', id: this.#marks.at(position), last: this.#marks.last, isResumed };
  }

  #onTable<T>(target: TableTarget, work: (call: WriteCall) => Promise<T>): Promise<T> {
    const { known } = this.#tools;
    // Alone it has come for the time that it needs: shorter ones were not enough.
    const isLong = this.#batch.entries.length === 1;
    const run = (session: MongoSession) => work({ session, target, known, operation: null });
    return this.#tools.onTable(target, this.#bounds, run, { isLong });
  }

  /** The entries are done, or there are letters of them. */
  async #settle(entries: readonly QueuedEntry[]): Promise<void> {
    const buried = new Set(this.#letters.map(({ id }) => id));
    const retried = entries.filter(({ isRetry, letterId }) => isRetry && !buried.has(letterId));
    const ids = retried.map(({ letterId }) => letterId);
    const to = entries.at(-1)?.position ?? this.#position;
    const isMoved = await this.#tools.run('write', this.#bounds, async (session) => {
      if (ids.length > 0) await discardLetters(session, ids);
      return movePosition(session, this.#batch, this.#position, to);
    });
    if (!isMoved) throw await this.#lost();
    this.#position = to;
    this.#inDoubt = Math.max(0, this.#inDoubt - entries.length);
  }

  /** Somebody else has moved the position. */
  async #lost(): Promise<Error> {
    const { namespace } = this.#batch;
    const row = await this.#tools.run('read', this.#bounds, (session) => readQueue(session, namespace));
    if (!isOwner(row, this.#batch)) return new QueueLostError(namespace);
    return new ApiError('conflict_retry', 'another attempt at the same writes was not over');
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && isLasting(error);
}

function letterFor({ namespace }: QueueBatch, entry: QueuedEntry, { code, message }: ApiError): DeadLetter {
  const { letterId: id, kid, op, payload, time } = entry;
  return { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false };
}
