import { type TableSize, unknownSize } from '../engine.ts';
import type { Session } from '../sql/session.ts';
import { physicalTable } from './names.ts';

/** Looking at the clock for every page would cost as much as the page. */
const PAGES_PER_CLOCK = 64;

/**
 * SQLite keeps no counts: `dbstat` visits the pages of a table, and each leaf says how many rows it holds.
 * @param budgetMs a large file is not read to its end for this
 */
export async function tableSizes(
  session: Session,
  namespace: string,
  tables: readonly string[],
  budgetMs: number,
): Promise<TableSize[]> {
  const pages = new PageCount(session, performance.now() + budgetMs);
  const sizes: TableSize[] = [];
  for (const table of tables) {
    const physical = physicalTable(namespace, table);
    const own = await pages.of(physical);
    const sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?";
    let bytes = own?.bytes ?? null;
    for (const [index] of (await session.query(sql, [physical])).rows) {
      const more = await pages.of(String(index));
      bytes = bytes === null || more === null ? null : bytes + more.bytes;
    }
    sizes.push(own === null ? unknownSize(table) : { table, rows: own.rows, isEstimate: false, bytes });
  }
  return sizes;
}

class PageCount {
  readonly #session: Session;
  readonly #until: number;

  constructor(session: Session, until: number) {
    this.#session = session;
    this.#until = until;
  }

  /** Null if the time is over. */
  async of(name: string): Promise<{ readonly rows: number; readonly bytes: number } | null> {
    if (performance.now() >= this.#until) return null;
    let [rows, bytes, seen, isOver] = [0, 0, 0, false];
    const sql = "SELECT pagetype = 'leaf', ncell, pgsize FROM dbstat WHERE name = ?";
    await this.#session.stream(sql, [name], ([isLeaf, cells, size]) => {
      seen += 1;
      isOver = seen % PAGES_PER_CLOCK === 0 && performance.now() >= this.#until;
      bytes += Number(size);
      if (Number(isLeaf) === 1) rows += Number(cells);
      return !isOver;
    });
    return isOver ? null : { rows, bytes };
  }
}
