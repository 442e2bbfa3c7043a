import SQLite from 'better-sqlite3';
import { type TableSize, unknownSize } from '../engine.ts';
import { PageBuilder } from '../model/page.ts';
import type { Page, RememberedResult } from '../rows.ts';
import type { Session } from '../sql/session.ts';
import { aggregateRanges } from './aggregate/ranges.ts';
import type { Connection, Prepared } from './connection.ts';
import { type Physical, physicalTable } from './dialect.ts';
import type { CountCall, FindCall, JobCall, ReadCall, RecallCall } from './worker/messages.ts';

const REMEMBERED =
  'SELECT fingerprint, result FROM _idempotency WHERE kid = ? AND namespace = ? AND key = ? AND expires_at > ?';

/** Runs one read inside the transaction that its batch shares. */
export function runRead(connection: Connection, call: Exclude<ReadCall, JobCall>): unknown {
  switch (call.kind) {
    case 'find':
      return find(connection, call);
    case 'count':
      return count(connection, call);
    case 'recall':
      return recall(connection, call.params);
    case 'ping':
      return connection.own("SELECT value FROM _meta WHERE name = 'format'").get() !== undefined;
    default:
      return call satisfies never;
  }
}

/** Long rows are read few at a time, so that a page of large values does not take much more memory than its bytes. */
function find(connection: Connection, call: FindCall): Page {
  connection.checkRevision(call.namespace, call.revision);
  try {
    const page = call.ranges === undefined ? null : aggregateRanges(connection, call, call.ranges);
    return page ?? pageOf(connection, call, call.statement);
  } catch (error) {
    const isOverflow = error instanceof SQLite.SqliteError && error.message === 'integer overflow';
    if (!isOverflow || call.exact === undefined) throw error;
    return pageOf(connection, call, call.exact);
  }
}

function pageOf(connection: Connection, call: FindCall, statement: number): Page {
  const { prepared, writer, isIndexed } = connection.statement(statement);
  const page = new PageBuilder(call.limit, call.maxBytes);
  const isRead = (row: Physical[]) => page.add(() => writer.write(row));
  const { stepRows = 0 } = call;
  if (isIndexed || call.limit < stepRows) readInSteps(connection, prepared, call, isRead);
  else {
    for (const row of prepared.iterate(...call.params)) {
      connection.guard.tick();
      if (!isRead(row)) break;
    }
  }
  return page.page();
}

/**
 * Rows of a step come in one call: each call into SQLite costs as much as a row. Only an indexed statement has more than one
 * step, as each step visits the rows of those before it.
 */
function readInSteps(
  { guard }: Connection,
  prepared: Prepared,
  { params, limit, stepRows = 1 }: FindCall,
  isRead: (row: Physical[]) => boolean,
): void {
  const filter = params.slice(0, -2);
  const offset = Number(params.at(-1));
  for (let done = 0, rows = stepRows; done <= limit; rows *= 2) {
    const asked = Math.min(rows, limit + 1 - done);
    const step = prepared.all(...filter, asked, offset + done);
    guard.check();
    if (!step.every(isRead) || step.length < asked) return;
    done += asked;
  }
}

function count(connection: Connection, call: CountCall): number {
  connection.checkRevision(call.namespace, call.revision);
  const row = connection.statement(call.statement).prepared.get(...call.params);
  return Number(row?.[0]);
}

export function recall(connection: Connection, params: RecallCall['params']): RememberedResult | null {
  return (connection.own(REMEMBERED).get(...params) as RememberedResult | undefined) ?? null;
}

/** Reading the clock for every page would cost as much as the page. */
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
