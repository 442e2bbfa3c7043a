import SQLite, { type Database, type Statement } from 'better-sqlite3';
import type { FindQuery, Page, TableTarget } from '../../rows.ts';
import { toPhysical } from '../dialect.ts';
import { type Comparison, comparisonsOf } from '../unique-filter.ts';
import { DiskPatience } from './disk-patience.ts';
import { prepareSpotPlan, type SpotPlan } from './spot-plan.ts';
import { ThreadReads } from './thread-reads.ts';

const CACHE_KIB = 4000;
/** Full, it begins again from empty: callers choose the shapes of their finds. */
const MAX_PLANS = 400;

interface OpenFile {
  readonly db: Database;
  readonly begin: Statement;
  readonly end: Statement;
  readonly revision: Statement<[string], number>;
}

/**
 * Finds of at most one row, read on the API's thread: a message to a reader and back costs several times as much. It has
 * a connection of its own and answers only if nothing speaks against it; everything else, each failure included, is left
 * to the readers. Finds of one step of the event loop share a transaction, so each sees what was committed before it came.
 */
export class SpotReads {
  readonly #file: string;
  readonly #patience: DiskPatience;
  readonly #counted: ThreadReads | null;
  #open: OpenFile | null = null;
  #isClosed = false;
  /** Plans by filter columns and fields; null for a find that is no spot read. */
  #plans = new WeakMap<TableTarget, Map<string, SpotPlan | null>>();
  #planCount = 0;
  /** Stored revisions of namespaces in the transaction under way; null outside of one. */
  #revisions: Map<string, number | undefined> | null = null;
  #count = 0;
  readonly #endTurn = (): void => this.#end();

  constructor(file: string) {
    this.#file = file;
    const counted = ThreadReads.open();
    this.#counted = counted;
    this.#patience = new DiskPatience(counted === null ? null : () => counted.hasMore());
  }

  /** Finds answered here. */
  get count(): number {
    return this.#count;
  }

  /** Null if a reader is to answer. */
  find(target: TableTarget, query: FindQuery, deadline: number): Page | null {
    const comparisons = query.offset === 0 && query.limit > 0 ? comparisonsOf(query.filter) : null;
    if (comparisons === null || this.#isClosed) return null;
    const begunAtMs = performance.now();
    if (begunAtMs >= deadline || this.#patience.isResting(begunAtMs)) return null;
    try {
      const rows = this.#rows(target, comparisons, query.fields);
      const endedAtMs = performance.now();
      this.#patience.note(endedAtMs - begunAtMs, endedAtMs);
      if (rows === null) return null;
      this.#count += 1;
      return { rows, hasMore: false };
    } catch (error) {
      if (isBusy(error)) return null;
      // A reader meets the same failure and reports it.
      this.#drop();
      this.#patience.restLong(begunAtMs);
      return null;
    }
  }

  /** A worker does not answer, maybe because of the disk. */
  rest(): void {
    this.#patience.restLong(performance.now());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#drop();
    this.#counted?.close();
  }

  #rows(target: TableTarget, comparisons: readonly Comparison[], fields: readonly string[]): string | null {
    this.#open ??= openFile(this.#file);
    if (!this.#isCurrent(this.#open, target)) return null;
    const plan = this.#planOf(this.#open, target, comparisons, fields);
    if (plan === null) return null;
    const params = comparisons.map(({ column, value }) => toPhysical(column, value));
    const row = plan.row.get(...params);
    if (row !== undefined) return `[${plan.writer.write(row)}]`;
    return plan.any?.get(...params) === undefined ? '[]' : null;
  }

  /** Begins the transaction of this step of the event loop. False for a target of another revision. */
  #isCurrent(open: OpenFile, { namespace, revision }: TableTarget): boolean {
    if (this.#revisions === null) {
      open.begin.run();
      this.#revisions = new Map();
      queueMicrotask(this.#endTurn);
    }
    let stored = this.#revisions.get(namespace);
    if (stored === undefined) {
      stored = open.revision.get(namespace);
      this.#revisions.set(namespace, stored);
    }
    return stored === revision;
  }

  #planOf(
    { db }: OpenFile,
    target: TableTarget,
    comparisons: readonly Comparison[],
    fields: readonly string[],
  ): SpotPlan | null {
    let plans = this.#plans.get(target);
    if (plans === undefined) {
      plans = new Map();
      this.#plans.set(target, plans);
    }
    let key = fields.join();
    for (const { column, op } of comparisons) key += ` ${column.name} ${op}`;
    let plan = plans.get(key);
    if (plan === undefined) {
      plan = prepareSpotPlan(db, target, comparisons, fields);
      if (this.#planCount++ >= MAX_PLANS) this.#forget();
      else plans.set(key, plan);
    }
    return plan;
  }

  #end(): void {
    if (this.#revisions === null || this.#open === null) return;
    this.#revisions = null;
    try {
      this.#open.end.run();
    } catch {
      this.#drop();
    }
  }

  #forget(): void {
    this.#plans = new WeakMap();
    this.#planCount = 0;
  }

  /** The next read opens the file again. */
  #drop(): void {
    const open = this.#open;
    this.#open = null;
    this.#revisions = null;
    this.#forget();
    try {
      open?.db.close();
    } catch {
      // A file that is broken: a reader tells.
    }
  }
}

/** Another process holds the file for a moment. */
function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Never waits for another process: a reader does. @throws SqliteError */
function openFile(file: string): OpenFile {
  const db = new SQLite(file, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma('trusted_schema = OFF');
    db.pragma('cell_size_check = ON');
    const revision = db.prepare<[string], number>('SELECT revision FROM _schemas WHERE namespace = ?').pluck();
    return { db, begin: db.prepare('BEGIN'), end: db.prepare('COMMIT'), revision };
  } catch (error) {
    db.close();
    throw error;
  }
}
