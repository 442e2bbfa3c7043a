import type { AnyBulkWriteOperation, Document, ObjectId } from 'mongodb';
import type { MongoDatabase } from '../connection.ts';
import { MARKS_FIELD } from '../documents.ts';
import type { MongoSession } from '../session.ts';
import { operationsOf } from './records.ts';

/** An operation that is done, so that its marks have no use any more. */
export interface Swept {
  /** `_id` of its record. */
  readonly record: string;
  readonly collection: string;
  readonly operation: ObjectId;
  /** Condition that includes all marked documents; `{}` means all documents; null if there are no marks. */
  readonly among: Document | null;
}

interface Waiting extends Swept {
  /** `performance.now()` milliseconds. */
  readonly notBefore: number;
}

const SWEEP_MS = 1000;
const SWEEP_TIMEOUT_MS = 5000;
/** Marks, or records whose marks are looked for, at once. */
const MAX_AT_ONCE = 500;
/**
 * Time for which a statement of an attempt that was cut off may still run on the server; until then it must meet the
 * mark.
 */
const STRAGGLER_MS = 10_000;
/** Time limit of the last sweep in a process that stops. */
const LAST_SWEEP_MS = 1000;

/**
 * Removes marks of documents after the result of their write is stored, some at a time. It may be left undone: the
 * purge of expired records finds the marks that a process leaves behind.
 */
export class MarkSweep {
  readonly #database: MongoDatabase;
  #waiting: Waiting[] = [];
  #sweeping: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: MongoDatabase) {
    this.#database = database;
  }

  add(swept: Swept, hadStragglers: boolean): void {
    this.#waiting.push({ ...swept, notBefore: performance.now() + (hadStragglers ? STRAGGLER_MS : 0) });
    this.#timer ??= setTimeout(() => this.#start(), SWEEP_MS).unref();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#sweeping;
    if (this.#waiting.length > 0) await this.#sweep(this.#waiting.splice(0), LAST_SWEEP_MS);
  }

  #start(): void {
    this.#timer = null;
    const now = performance.now();
    const due = this.#waiting.filter(({ notBefore }) => notBefore <= now).slice(0, MAX_AT_ONCE);
    const taken = new Set(due);
    this.#waiting = this.#waiting.filter((each) => !taken.has(each));
    this.#sweeping = this.#sweep(due, SWEEP_TIMEOUT_MS).finally(() => {
      this.#sweeping = null;
      // With a full load go on at once, so that the list does not grow without end.
      const pauseMs = due.length < MAX_AT_ONCE ? SWEEP_MS : 0;
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), pauseMs).unref();
    });
  }

  async #sweep(due: readonly Swept[], ms: number): Promise<void> {
    if (due.length === 0) return;
    try {
      await this.#database.run({ deadline: performance.now() + ms }, 'read', (session) => sweep(session, due));
    } catch {
      // The log has the error, and the records still say that there are marks.
    }
  }
}

/** Marks first: a record without `marked` has no marks. */
export async function sweep(session: MongoSession, due: readonly Swept[]): Promise<void> {
  for (const [collection, changes] of changesOf(due)) {
    await session.send((db, time) => db.collection(collection).bulkWrite(changes, { ordered: false, ...time }));
  }
  // Only records of these operations: after a key was forgotten its record may belong to another operation, which has
  // marks.
  const records = {
    _id: { $in: due.map(({ record }) => record) },
    operation: { $in: due.map(({ operation }) => operation) },
  };
  await session.send((db, time) => operationsOf(db).updateMany(records, { $unset: { marked: '' } }, time));
}

/** Combines all operations that have marked the same documents into one change. */
function changesOf(due: readonly Swept[]): Map<string, AnyBulkWriteOperation[]> {
  const groups = new Map<string, { collection: string; among: Document; operations: ObjectId[] }>();
  for (const { collection, among, operation } of due) {
    if (among === null) continue;
    const key = JSON.stringify([collection, among]);
    const group = groups.get(key) ?? { collection, among, operations: [] };
    group.operations.push(operation);
    groups.set(key, group);
  }
  const changes = new Map<string, AnyBulkWriteOperation[]>();
  for (const { collection, among, operations } of groups.values()) {
    const marks = { [MARKS_FIELD]: { $in: operations } };
    const filter = Object.keys(among).length === 0 ? marks : { $and: [among, marks] };
    const update: Document = { $pull: marks };
    changes.set(collection, [...(changes.get(collection) ?? []), { updateMany: { filter, update } }]);
  }
  return changes;
}

const PURGE_MS = 30_000;
const PURGE_TIMEOUT_MS = 10_000;

/** Removes records that have expired (rule 3 of the specification), with their marks. */
export class OperationPurge {
  readonly #database: MongoDatabase;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;

  /** @param now returns epoch milliseconds */
  constructor(database: MongoDatabase, now: () => number, intervalMs = PURGE_MS) {
    this.#database = database;
    this.#now = now;
    this.#timer = setInterval(() => this.#start(), intervalMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    const bounds = { deadline: performance.now() + PURGE_TIMEOUT_MS };
    this.#running ??= this.#database
      .run(bounds, 'read', (session) => purge(session, this.#now()))
      // The log has the error, and the next turn retries.
      .catch(() => {})
      .finally(() => {
        this.#running = null;
      });
  }
}

async function purge(session: MongoSession, now: number): Promise<void> {
  const isOver = { expiresAt: { $lte: now } };
  await session.send((db, time) => operationsOf(db).deleteMany({ ...isOver, marked: { $exists: false } }, time));
  const found = await session.look((db, time) =>
    operationsOf(db)
      .find(isOver, { projection: { marked: 1, operation: 1 }, limit: MAX_AT_ONCE, ...time })
      .toArray(),
  );
  if (found.length === 0) return;
  const left = found.map(({ _id, marked, operation }) => ({
    record: _id,
    collection: marked ?? null,
    operation,
    among: {},
  }));
  await sweep(
    session,
    left.flatMap((each) => (each.collection === null ? [] : [{ ...each, collection: each.collection }])),
  );
  const ids = { _id: { $in: found.map(({ _id }) => _id) } };
  await session.send((db, time) => operationsOf(db).deleteMany({ ...ids, ...isOver }, time));
}
