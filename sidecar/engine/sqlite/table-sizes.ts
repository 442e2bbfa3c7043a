import type { Database } from 'better-sqlite3';
import { type TableSize, unknownSize } from '../engine.ts';
import type { JobContext, JobRegistry } from './worker/jobs.ts';
import { monotonicMs } from './worker/monotonic.ts';

export interface TableSizesInput {
  /** Physical name of each declared one. */
  readonly tables: readonly (readonly [declared: string, physical: string])[];
  /** A large file is not read to its end for this. */
  readonly budgetMs: number;
}

/** Looking at the clock for every page would cost as much as the page. */
const PAGES_PER_CLOCK = 64;

/** SQLite keeps no counts: `dbstat` visits the pages of a table, and each leaf says how many rows it holds. */
export const SIZE_JOBS: JobRegistry = {
  'tables.sizes': {
    on: 'reader',
    run: ({ db }: JobContext, input) => sizes(db, input as TableSizesInput),
  },
};

function sizes(db: Database, { tables, budgetMs }: TableSizesInput): TableSize[] {
  const pages = new PageCount(db, monotonicMs() + budgetMs);
  return tables.map(([table, physical]) => {
    const own = pages.of(physical);
    const indexes = db
      .prepare<[string], string>("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?")
      .pluck()
      .all(physical);
    let bytes = own?.bytes ?? null;
    for (const index of indexes) {
      const more = pages.of(index);
      bytes = bytes === null || more === null ? null : bytes + more.bytes;
    }
    return own === null ? unknownSize(table) : { table, rows: own.rows, isEstimate: false, bytes };
  });
}

class PageCount {
  readonly #db: Database;
  readonly #until: number;

  constructor(db: Database, until: number) {
    this.#db = db;
    this.#until = until;
  }

  /** Null where the time is over. */
  of(name: string): { readonly rows: number; readonly bytes: number } | null {
    if (monotonicMs() >= this.#until) return null;
    const sql = "SELECT pagetype = 'leaf', ncell, pgsize FROM dbstat WHERE name = ?";
    const pages = this.#db.prepare<[string], [number, number, number]>(sql).raw().iterate(name);
    let [rows, bytes, seen] = [0, 0, 0];
    for (const [isLeaf, cells, size] of pages) {
      seen += 1;
      if (seen % PAGES_PER_CLOCK === 0 && monotonicMs() >= this.#until) return null;
      bytes += size;
      if (isLeaf === 1) rows += cells;
    }
    return { rows, bytes };
  }
}
