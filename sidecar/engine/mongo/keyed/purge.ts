import type { MongoDatabase } from '../connection.ts';
import type { MongoSession } from '../session.ts';
import { operationsOf } from './records.ts';
import { sweep } from './sweep.ts';

const PURGE_MS = 30_000;
const PURGE_TIMEOUT_MS = 10_000;
/** Records whose marks are looked for at once. */
const MAX_AT_ONCE = 500;

/** Removes what is older than the memory of keys (the specification's rule 3), with the marks that it still has. */
export class OperationPurge {
  readonly #database: MongoDatabase;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;

  /** `now` gives epoch milliseconds. */
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
      // The log has it, and the next turn tries again.
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
