import { isCompiled, isLasting, type QueueUnit, retriedLetter, unitsOf, withWork } from '#engine/model/queue-units.ts';
import { IdempotencyConflictError } from '#engine/model/remembered-answer.ts';
import { type DeadLetter, type QueueBatch, type QueuedEntry, type QueuedWork, QueueLostError } from '#engine/queues.ts';
import type { CallBounds, TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { MongoSession } from '../session.ts';
import type { QueuedOperation, WriteCall } from '../write/call.ts';
import type { KnownNumbers } from '../write/generators.ts';
import { applyWrite } from '../write/write.ts';
import { isAlike, type KeyedChange, keyedChangeOf } from './changes.ts';
import { claimSlots, type OthersOutcome } from './claims.ts';
import { discardLetters, putLetter, takeLetter } from './letters.ts';
import { JournalMarks } from './marks.ts';
import { begunOf, isOwner, maybeDone, movePlace, type QueuePlace, readQueue } from './owner.ts';
import { changeTogether, insertTogether } from './together.ts';

/** Calls of the engine that the queue uses. */
export interface QueueTools {
  run<T>(kind: 'read' | 'write', bounds: CallBounds, work: (session: MongoSession) => Promise<T>): Promise<T>;
  /** Runs while the schema is the target's. @throws StaleSchemaError */
  onTable<T>(
    target: TableTarget,
    bounds: CallBounds,
    work: (session: MongoSession) => Promise<T>,
    /** False: the work ends within the time of a live write. */
    how: { readonly isLong: boolean },
  ): Promise<T>;
  readonly known: KnownNumbers;
}

/** Number of entries behind the position that one attempt may have begun: those of a unit. */
export const MAX_BEGUN = 1000;

/** Place up to which the queue of a namespace is known to match its row in the database. */
export interface Progress {
  readonly journal: string;
  readonly token: number;
  readonly position: number;
  /** Finished operations of the entry behind the position. */
  readonly parts: number;
  /** Number of next entries that may be begun. */
  readonly inDoubt: number;
}

/** Changes of rows by the same key, done together. */
type Together = readonly [KeyedChange, ...KeyedChange[]];

type Step =
  | { readonly kind: 'unit'; readonly unit: QueueUnit }
  | { readonly kind: 'changes'; readonly changes: [KeyedChange, ...KeyedChange[]] };

/** A call of `applyQueue`: see `QueueApply` in `calls.ts`. */
export class QueueAttempt {
  readonly #tools: QueueTools;
  readonly #batch: QueueBatch;
  readonly #bounds: CallBounds;
  readonly #marks: JournalMarks;
  readonly #letters: DeadLetter[] = [];
  #place: QueuePlace;
  #inDoubt: number;

  constructor(
    tools: QueueTools,
    batch: QueueBatch,
    bounds: CallBounds,
    from: Pick<Progress, 'position' | 'parts' | 'inDoubt'>,
  ) {
    this.#tools = tools;
    this.#batch = batch;
    this.#bounds = bounds;
    this.#marks = new JournalMarks(batch.journal);
    this.#place = { position: from.position, parts: from.parts };
    this.#inDoubt = from.inDoubt;
  }

  get progress(): Progress {
    const { journal, token } = this.#batch;
    return { journal, token, ...this.#place, inDoubt: this.#inDoubt };
  }

  async run(): Promise<readonly DeadLetter[]> {
    const left = this.#left();
    const retried = await this.#doneRetries(left);
    const claimed = await this.#tools.run('write', this.#bounds, (session) => claimSlots(session, left));
    const skipped = new Set(left.filter((entry) => retried.has(entry) || claimed.get(entry) === 'done'));
    const due = left.filter((entry) => !skipped.has(entry));
    const judged = due.map((entry) => judgedBy(claimed.get(entry), entry));
    for (const step of this.#steps(judged)) {
      if (step.kind === 'changes') await this.#change(step.changes);
      else await this.#apply(step.unit);
    }
    const last = left.at(-1);
    if (last !== undefined && skipped.has(last)) await this.#settle([last], []);
    return this.#letters;
  }

  /** Entries behind the position. Some operations of the first one may be done. */
  #left(): QueuedEntry[] {
    const { position, parts } = this.#place;
    const behind = this.#batch.entries.filter((entry) => entry.position > position);
    const next = behind[0]?.position;
    return behind.filter((entry) => entry.position !== next || (entry.part?.index ?? 0) >= parts);
  }

  /** Retries whose letters are gone, or are tried again by another sidecar. */
  async #doneRetries(entries: readonly QueuedEntry[]): Promise<ReadonlySet<QueuedEntry>> {
    const ids = new Map(entries.flatMap((entry) => entriesOfLetter(entry)));
    const taken = new Set<string>();
    for (const [id, { position }] of ids) {
      const taker = `${this.#batch.journal}-${position}`;
      if (await this.#tools.run('write', this.#bounds, (session) => takeLetter(session, id, taker))) taken.add(id);
    }
    return new Set(entries.filter((entry) => entry.isRetry && !taken.has(retriedLetter(entry) ?? '')));
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

  /** Changes that are left. */
  async #changeTogether(changes: Together): Promise<readonly KeyedChange[]> {
    try {
      return await this.#onTable(changes[0].target, (call) => changeTogether(call, changes));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return changes;
    }
  }

  async #apply({ entries, work }: QueueUnit): Promise<void> {
    const isTogether = entries.length > 1;
    for (let left = entries; left.length > 0; ) {
      const done = isTogether && 'write' in work ? await this.#insert(work, left) : 0;
      const next = left[done];
      if (next !== undefined) await this.#applyOrBury(next);
      const settled = left.slice(0, done + 1);
      await this.#settle(settled);
      left = left.slice(settled.length);
    }
  }

  /** Number of entries that are done. */
  async #insert({ target }: QueuedWork, entries: readonly QueuedEntry[]): Promise<number> {
    const insertions = entries.map((entry) => ({ entry, operation: this.#operation(entry) }));
    try {
      return await this.#onTable(target, (call) => insertTogether(call, insertions));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // An entry is refused, and the server does not say which: try one after the other.
      this.#inDoubt = MAX_BEGUN;
      return 0;
    }
  }

  /** An entry that can never be done becomes a dead letter before any later entry is begun. */
  async #applyOrBury(entry: QueuedEntry, isResumed = this.#inDoubt > 0): Promise<void> {
    const failure = await this.#refusal(entry, isResumed);
    if (failure === null) return;
    const letter = await this.#letterFor(entry, failure, isResumed);
    await this.#tools.run('write', this.#bounds, (session) => putLetter(session, letter));
    this.#letters.push(letter);
  }

  /** Refusal of the entry; null if it is done. */
  async #refusal(entry: QueuedEntry, isResumed: boolean): Promise<ApiError | null> {
    const { work } = entry;
    if (!isCompiled(work)) return work;
    if (!('write' in work)) throw new Error('an atomic batch, without transactions');
    const operation = this.#operation(entry, isResumed);
    try {
      await this.#onTable(work.target, (call) => applyWrite({ ...call, operation }, work.write));
      return null;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return error;
    }
  }

  #operation({ position, part }: QueuedEntry, isResumed = this.#inDoubt > 0): QueuedOperation {
    const { field, last } = this.#marks;
    return { kind: 'queued', field, id: this.#marks.at(position, part?.rowsBefore), last, isResumed };
  }

  #onTable<T>(target: TableTarget, work: (call: WriteCall) => Promise<T>): Promise<T> {
    const { known } = this.#tools;
    // A single entry is here for a longer time: shorter times were not enough.
    const { entries } = this.#batch;
    const isLong = entries[0]?.position === entries.at(-1)?.position;
    const run = (session: MongoSession) => work({ session, target, known, operation: null });
    return this.#tools.onTable(target, this.#bounds, run, { isLong });
  }

  /** Moves the position: the entries are done, have dead letters, or are passed by. */
  async #settle(entries: readonly QueuedEntry[], done = entries): Promise<void> {
    const buried = new Set(this.#letters.map(({ id }) => id));
    // The letter of a batch is deleted with its last operation: until then it is the proof that the rest is not done.
    const retried = done.filter(({ part, letterId }) => !buried.has(letterId) && part?.isLast !== false);
    const ids = retried.flatMap((entry) => retriedLetter(entry) ?? []);
    const to = this.#placeAfter(entries.at(-1));
    const isMoved = await this.#tools.run('write', this.#bounds, async (session) => {
      if (ids.length > 0) await discardLetters(session, ids);
      return movePlace(session, this.#batch, this.#place, to);
    });
    if (!isMoved) throw await this.#lost();
    this.#place = to;
    this.#inDoubt = Math.max(0, this.#inDoubt - entries.length);
  }

  #placeAfter(entry: QueuedEntry | undefined): QueuePlace {
    if (entry === undefined) return this.#place;
    const { position, part } = entry;
    if (part === undefined || part.isLast) return { position, parts: 0 };
    return { position: this.#positionBefore(position), parts: part.index + 1 };
  }

  /** Position of the entries that are settled before an entry. */
  #positionBefore(position: number): number {
    const before = this.#batch.entries.findLast((entry) => entry.position < position)?.position ?? 0;
    return Math.max(before, this.#place.position);
  }

  /** Another attempt has moved the position. */
  async #lost(): Promise<Error> {
    const { namespace } = this.#batch;
    const row = await this.#tools.run('read', this.#bounds, (session) => readQueue(session, this.#batch));
    if (!isOwner(row, this.#batch)) return new QueueLostError(namespace);
    return new ApiError('conflict_retry', 'another attempt at the same writes was not over');
  }

  /** An attempt before a crash may have begun an entry that is refused now. */
  async #letterFor(entry: QueuedEntry, failure: ApiError, isResumed: boolean): Promise<DeadLetter> {
    const letter = letterFor(this.#batch, entry, failure);
    if (!isResumed || isCompiled(entry.work)) return letter;
    const { position } = entry;
    const begun = await this.#tools.run('read', this.#bounds, (session) => begunOf(session, this.#batch, [position]));
    return begun.has(position) ? maybeDone(letter) : letter;
  }
}

function entriesOfLetter(entry: QueuedEntry): [string, QueuedEntry][] {
  const id = retriedLetter(entry);
  return id === null ? [] : [[id, entry]];
}

const CUT_OFF =
  'a write with its idempotencyKey had begun before and was cut off; look what of that is there before you try it again';

function judgedBy(outcome: OthersOutcome | undefined, entry: QueuedEntry): QueuedEntry {
  if (outcome === undefined) return entry;
  const isCutOff = outcome === 'cutOff';
  return withWork(entry, isCutOff ? new ApiError('idempotency_conflict', CUT_OFF) : new IdempotencyConflictError());
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && isLasting(error);
}

function letterFor({ namespace }: QueueBatch, entry: QueuedEntry, { code, message }: ApiError): DeadLetter {
  const { letterId: id, kid, op, payload, time } = entry;
  return { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false };
}
