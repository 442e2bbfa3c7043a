import { DatabaseError, must } from './database-error.ts';
import { type Filter, filterText } from './filters.ts';
import { jsonText } from './json-text.ts';
import { namesOf } from './known-names.ts';
import { maxGiven, namesGiven, parts } from './payload-parts.ts';
import type { Query } from './payloads.ts';
import { readHasMore, readRows, withBody } from './readers.ts';
import { mistaken, requests, type Send } from './request.ts';
import { type DbResult, errorResult } from './result.ts';
import { type OrderedBy, rowsAfter, totalOrder } from './row-order.ts';
import { sortText } from './rows.ts';
import type { ColumnOf, DbRow } from './typed-rows.ts';

/** More rows than this are refused unless the script allows more. */
const DEFAULT_MAX = 100_000;

/** Options of a `FindAll`. */
export interface AllQuery<R = DbRow, F = ColumnOf<R>> extends Pick<Query<R, F>, 'filter' | 'fields' | 'sort'> {
  /** More rows than this are an error, `too_many_rows`; 100,000 if left out. */
  readonly max?: number | undefined;
}

const ALL_NAMES = namesOf<AllQuery>({ filter: true, fields: true, sort: true, max: true });
/** Known, and refused with a reason of their own. */
const PAGE_NAMES = ['limit', 'offset'];

/** Start of the next page: after a row by key, or so many rows from the start in a table without one. */
interface Place {
  readonly last: DbRow;
  /** Text of `last`, which the script may have changed meanwhile; empty for a table with a key. */
  readonly text: string;
  readonly offset: number;
}

interface Plan {
  /** Empty for a table without a key. */
  readonly order: readonly OrderedBy[];
  /** Fields to ask for: the script's own columns, and those that are needed to go on. */
  readonly fields: readonly string[] | undefined;
  /** Fields that were asked for only to go on, and are taken away again. */
  readonly extra: readonly string[];
}

/** The method that the pages are read for. */
type Method = 'FindAll' | 'FindEach';

/** All rows of a query, a page after the other. @throws DatabaseError */
export async function* pagesOf(
  send: Send,
  method: Method,
  namespace: string,
  table: string,
  asked: AllQuery | undefined,
): AsyncGenerator<readonly DbRow[]> {
  const query = await checked(send, `${method} ${namespace}.${table}`, asked);
  const { filter, sort, fields } = query;
  // A short table is one call: its key matters only if it goes on, or if columns have to be asked for.
  let plan = fields === undefined ? undefined : await planOf(send, namespace, table, query);
  let page = must(await send(requests.Find(namespace, table, { filter, sort, fields: plan?.fields })));
  let offset = 0;
  for (;;) {
    const rows = readRows<DbRow>(page);
    // A copy, since what is asked for only to go on is taken out of the rows.
    const last = { ...rows.at(-1) };
    const hasMore = readHasMore(page) && rows.length > 0;
    if (hasMore) plan ??= await planOf(send, namespace, table, query);
    const text = hasMore && plan?.order.length === 0 ? textOf(last) : '';
    yield plan === undefined ? rows : without(rows, plan.extra);
    if (!hasMore || plan === undefined) return;
    offset += rows.length;
    const next = await nextPage(send, namespace, table, query, plan, { last, text, offset });
    if (next === null) return;
    page = next;
  }
}

async function checked(send: Send, what: string, query: AllQuery | undefined): Promise<AllQuery> {
  try {
    return checkedAllQuery(query);
  } catch (mistake) {
    throw new DatabaseError(await send(mistaken(what, mistake)));
  }
}

function checkedAllQuery(query: AllQuery | undefined): AllQuery {
  const given: AllQuery = parts(query, 'query', [...ALL_NAMES, ...PAGE_NAMES]);
  for (const name of PAGE_NAMES) {
    if (Reflect.get(given, name) !== undefined) {
      throw new TypeError(`${name}: all rows are asked for; use Find for a part of them, or max for an upper bound`);
    }
  }
  return checkedParts(given);
}

/** @param place what messages put before the name of a part; null is left out. @throws TypeError */
export function checkedParts(given: AllQuery, place = ''): AllQuery {
  const filter = given.filter ?? undefined;
  const sort = given.sort ?? undefined;
  if (filter !== undefined) filterText(filter, `${place}filter`);
  if (sort !== undefined) sortText(sort);
  return {
    filter,
    sort,
    fields: namesGiven(given.fields, `${place}fields`),
    max: maxGiven(given.max, `${place}max`),
  };
}

async function planOf(send: Send, namespace: string, table: string, { sort, fields }: AllQuery): Promise<Plan> {
  const described = must(await send(requests.Describe(namespace)));
  const key = keyOf(described, table);
  const order = key === undefined ? [] : totalOrder(sort, key);
  const extra = fields === undefined ? [] : order.map(({ field }) => field).filter((field) => !fields.includes(field));
  return { order, extra, fields: fields === undefined ? undefined : [...fields, ...extra] };
}

/** undefined if the table has none, or is not there; the next page reports that better. */
function keyOf(described: DbResult, table: string): readonly string[] | undefined {
  const { schema } = JSON.parse(described.Json) as {
    schema?: { tables?: readonly { name: string; primaryKey?: readonly string[] }[] } | null;
  };
  return schema?.tables?.find(({ name }) => name === table)?.primaryKey;
}

/** null if no page can follow. */
async function nextPage(
  send: Send,
  namespace: string,
  table: string,
  { filter, sort }: AllQuery,
  { order, fields }: Plan,
  place: Place,
): Promise<DbResult | null> {
  if (order.length === 0) return pageByOffset(send, namespace, table, { filter, sort, fields }, place);
  const after = rowsAfter(place.last, order);
  if (after === null) return null;
  const both: Filter = filter === undefined || filter === null ? after : { and: [filter, after] };
  return must(await send(requests.Find(namespace, table, { filter: both, sort, fields })));
}

/**
 * A table without a key is read by offset. Each page begins with the last row of the one before: if another row is there,
 * rows have come or gone in front of it, and the next ones would be missed or come twice.
 */
async function pageByOffset(
  send: Send,
  namespace: string,
  table: string,
  query: Query,
  { text, offset }: Place,
): Promise<DbResult> {
  const page = must(await send(requests.Find(namespace, table, { ...query, offset: offset - 1 })));
  const [first, ...rows] = readRows<DbRow>(page);
  if (textOf(first) !== text) {
    const message = `rows of ${table} came or went while it was read, and it has no primary key; ask again`;
    throw new DatabaseError(errorResult('conflict_retry', message));
  }
  return withBody(page, { rows, hasMore: readHasMore(page) && rows.length > 0 });
}

function textOf(row: DbRow | undefined): string {
  return JSON.stringify(row, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ?? '';
}

function without(rows: readonly DbRow[], extra: readonly string[]): readonly DbRow[] {
  for (const row of rows) for (const field of extra) delete row[field];
  return rows;
}

/** All rows in one result, at most `max`. */
export async function findAll(send: Send, namespace: string, table: string, query?: AllQuery): Promise<DbResult> {
  const max = query?.max ?? DEFAULT_MAX;
  const rows: DbRow[] = [];
  try {
    for await (const page of pagesOf(send, 'FindAll', namespace, table, query)) {
      for (const row of page) rows.push(row);
      if (rows.length > max) return errorResult('too_many_rows', `${table} has more than ${max} such rows; ${HINT}`);
    }
  } catch (error) {
    return failureOf(error);
  }
  return okResult({ rows, hasMore: false });
}

const HINT = 'give a filter, a larger max, or walk through them with FindEach';

/** A result that was put together here. Its text is written only if it is read. */
export function okResult(body: Readonly<Record<string, unknown>>): DbResult {
  return withBody(
    {
      Id: '',
      State: 'ok',
      Status: 200,
      Code: '',
      get Json() {
        return jsonText(body, 'result');
      },
    },
    body,
  );
}

export function failureOf(error: unknown): DbResult {
  if (error instanceof DatabaseError) return error.result;
  if (error instanceof TypeError) return errorResult('invalid_request', error.message);
  throw error;
}
