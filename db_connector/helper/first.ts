import type { Query } from './payloads.ts';
import { readRows } from './readers.ts';
import { requests, type Send } from './request.ts';
import type { DbResult, FirstResult, ValueResult } from './result.ts';
import type { DbRow, DbValue } from './typed-rows.ts';

/** A `Find` of one row, and the row. */
export async function first(send: Send, namespace: string, table: string, query?: Query): Promise<FirstResult<DbRow>> {
  const result = await send(requests.First(namespace, table, query));
  return alsoReadable(result, { Row: readRows<DbRow>(result)[0] ?? null });
}

/** A `Find` of one column of one row, and its value. */
export async function value(
  send: Send,
  namespace: string,
  table: string,
  field: string,
  query?: Query,
): Promise<ValueResult<DbValue>> {
  const result = await send(requests.Value(namespace, table, field, query));
  return alsoReadable(result, { Value: readRows<DbRow>(result)[0]?.[field] ?? null });
}

/** The result with more on it. */
function alsoReadable<T extends object>({ Id, State, Status, Code, Json }: DbResult, more: T) {
  return { Id, State, Status, Code, Json, ...more };
}
