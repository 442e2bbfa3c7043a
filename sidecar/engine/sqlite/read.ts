import SQLite from 'better-sqlite3';
import { PageBuilder } from '../model/page.ts';
import type { Page, RememberedResult } from '../rows.ts';
import type { Connection } from './connection.ts';
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

/** Rows are taken one by one, so that a page of large values never lies in memory beyond its bytes. */
function find(connection: Connection, call: FindCall): Page {
  connection.checkRevision(call.namespace, call.revision);
  try {
    return pageOf(connection, call, call.statement);
  } catch (error) {
    const isOverflow = error instanceof SQLite.SqliteError && error.message === 'integer overflow';
    if (!isOverflow || call.exact === undefined) throw error;
    return pageOf(connection, call, call.exact);
  }
}

function pageOf(connection: Connection, call: FindCall, statement: number): Page {
  const { prepared, writer } = connection.statement(statement);
  const page = new PageBuilder(call.limit, call.maxBytes);
  for (const row of prepared.iterate(...call.params)) {
    connection.guard.tick();
    if (!page.add(() => writer.write(row))) break;
  }
  return page.page();
}

function count(connection: Connection, call: CountCall): number {
  connection.checkRevision(call.namespace, call.revision);
  const row = connection.statement(call.statement).prepared.get(...call.params);
  return Number(row?.[0]);
}

export function recall(connection: Connection, params: RecallCall['params']): RememberedResult | null {
  return (connection.own(REMEMBERED).get(...params) as RememberedResult | undefined) ?? null;
}
