import SQLite, { type Database, type Statement } from 'better-sqlite3';
import type { FindQuery, Page, TableTarget } from '../../rows.ts';
import { toPhysical } from '../dialect.ts';
import { DiskPatience } from './disk-patience.ts';
import { prepareSpotPlan, type SpotPlan } from './spot-plan.ts';
import { ThreadReads } from './thread-reads.ts';
import { type Comparison, comparisonsOf } from './unique-filter.ts';

const CACHE_KIB = 4000;
/** Full, it begins again from empty: callers choose the shapes of their finds. */
const MAX_PLANS = 400;

interface TablePlans {
  /** Null for a find that is no spot read. */
  readonly byKey: Map<string, SpotPlan | null>;
  /** List of fields of the last find, and its text: most finds of a table share one list. */
  fields: readonly string[];
  fieldsText: string;
}

/** A find, with the plans of its table and its own key among them. */
interface SpotQuery {
  readonly comparisons: readonly Comparison[];
  readonly fields: readonly string[];
  readonly byKey: TablePlans['byKey'];
  readonly key: string;
}

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
  #plans = new WeakMap<TableTarget, TablePlans>();
  #planCount = 0;
  /** Stored revisions of namespaces in the transaction under way; null outside of one. */
  #revisions: Map<string, number | undefined> | null = null;
  #count = 0;
  /** Ends the transaction of a step of the event loop. */
  readonly #endTurn = (): void => {
    if (this.#revisions === null || this.#open === null) return;
    this.#revisions = null;
    try {
      this.#open.end.run();
    } catch {
      this.#drop();
    }
  };

  constructor(file: string) {
    this.#file = file;
    this.#counted = ThreadReads.open();
    this.#patience = new DiskPatience(this.#counted);
  }

  /** Finds answered here. */
  get count(): number {
    return this.#count;
  }

  /** Null if a reader is to answer. */
  find(target: TableTarget, query: FindQuery, deadline: number): Page | null {
    const comparisons = query.offset === 0 && query.limit > 0 ? comparisonsOf(query.filter) : null;
    if (comparisons === null || this.#isClosed) return null;
    const nowMs = performance.now();
    if (nowMs >= deadline || this.#patience.isResting(nowMs)) return null;
    const plans = this.#plansOf(target);
    const key = keyOf(plans, comparisons, query.fields);
    if (plans.byKey.get(key) === null) return null;
    try {
      const open = this.#opened();
      const begunAtMs = performance.now();
      const rows = this.#rows(open, target, { comparisons, fields: query.fields, byKey: plans.byKey, key });
      const endedAtMs = performance.now();
      this.#patience.note(endedAtMs - begunAtMs, endedAtMs);
      if (rows === null) return null;
      this.#count += 1;
      return { rows, hasMore: false };
    } catch (error) {
      if (isBusy(error)) return null;
      // A reader meets the same failure and reports it.
      this.#drop();
      this.#patience.restLong(nowMs);
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

  #opened(): OpenFile {
    if (this.#open === null) {
      this.#open = openFile(this.#file);
      // Reads of the disk until now were not for a find.
      this.#counted?.hasMore();
    }
    return this.#open;
  }

  #rows(open: OpenFile, target: TableTarget, query: SpotQuery): string | null {
    if (!this.#isCurrent(open, target)) return null;
    const plan = this.#planOf(open, target, query);
    if (plan === null) return null;
    const params = query.comparisons.map(({ column, value }) => toPhysical(column, value));
    const row = plan.row.get(...params);
    if (row !== undefined) return `[${plan.writer.write(row)}]`;
    return plan.any?.get(...params) === undefined ? '[]' : null;
  }

  #planOf({ db }: OpenFile, target: TableTarget, { comparisons, fields, byKey, key }: SpotQuery): SpotPlan | null {
    let plan = byKey.get(key);
    if (plan === undefined) {
      plan = prepareSpotPlan(db, target, comparisons, fields);
      if (this.#planCount++ >= MAX_PLANS) this.#forget();
      byKey.set(key, plan);
    }
    return plan;
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

  #plansOf(target: TableTarget): TablePlans {
    let plans = this.#plans.get(target);
    if (plans === undefined) {
      plans = { byKey: new Map(), fields: [], fieldsText: '' };
      this.#plans.set(target, plans);
    }
    return plans;
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

/** Filter columns and fields, which no name can confuse: names have no spaces. */
function keyOf(plans: TablePlans, comparisons: readonly Comparison[], fields: readonly string[]): string {
  if (plans.fields !== fields) {
    plans.fields = fields;
    plans.fieldsText = fields.join();
  }
  let key = plans.fieldsText;
  for (const { column, op } of comparisons) key += ` ${column.name} ${op}`;
  return key;
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
