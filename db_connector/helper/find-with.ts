import type { Filter, Scalar } from './filters.ts';
import { checkedParts, failureOf, findAll, okResult } from './find-all.ts';
import { checkNames, namesOf } from './known-names.ts';
import { namesGiven } from './payload-parts.ts';
import { checkedQuery, type Query } from './payloads.ts';
import { pageResult, readHasMore, readRows } from './readers.ts';
import { mistaken, requests, type Send } from './request.ts';
import type { DbResult, PageResult } from './result.ts';
import type { Sort } from './rows.ts';
import type { DbRow, DbValue } from './typed-rows.ts';

/** A filter's list holds no more. */
const MAX_VALUES = 1000;

/** Rows of another table that belong to the rows found: `{ as: 'vehicles', table: 'vehicles', from: 'id', to: 'owner_id', many: true }`. */
export interface Relation<A extends string = string, M extends boolean = boolean> {
  /** The property that they are put into. */
  readonly as: A;
  readonly table: string;
  /** The column of the rows found. */
  readonly from: string;
  /** The column of the other table that has the same value. */
  readonly to: string;
  /** true: a list, empty if there are none. Otherwise the first row, or null. */
  readonly many?: M | undefined;
  readonly filter?: Filter | undefined;
  readonly fields?: readonly string[] | undefined;
  /** The order in the list. */
  readonly sort?: Sort | undefined;
  /** More rows than this are an error, `too_many_rows`; 100,000 if left out. */
  readonly max?: number | undefined;
}

const RELATION_NAMES = namesOf<Relation>({
  as: true,
  table: true,
  from: true,
  to: true,
  many: true,
  filter: true,
  fields: true,
  sort: true,
  max: true,
});

/** A page of rows with what belongs to them: one find, and one `in` find for each relation. */
export async function findWith(
  send: Send,
  namespace: string,
  table: string,
  given: Query | undefined,
  relations: Relation | readonly Relation[],
): Promise<PageResult> {
  let query: Query;
  let list: readonly Relation[];
  try {
    query = checkedQuery(given);
    query = { ...query, fields: namesGiven(query.fields, 'fields') };
    list = checked(relations);
  } catch (mistake) {
    return notCapped(await send(mistaken(`FindWith ${namespace}.${table}`, mistake)));
  }
  try {
    const { fields } = query;
    const extra =
      fields === undefined ? [] : [...new Set(list.map(({ from }) => from))].filter((from) => !fields.includes(from));
    const asked = fields === undefined ? query : { ...query, fields: [...fields, ...extra] };
    const page = await send(requests.Find(namespace, table, asked));
    if (page.State !== 'ok') return notCapped(page);
    const rows = readRows<DbRow>(page).map((row) => ({ ...row }));
    const keys = rows.map((row) => ({ ...row }));
    for (const relation of list) {
      const failure = await relate(send, namespace, rows, keys, relation);
      if (failure !== null) return notCapped(failure);
    }
    for (const row of rows) for (const field of extra) delete row[field];
    return Object.assign(okResult({ rows, hasMore: readHasMore(page) }), {
      Capped: 'Capped' in page && page.Capped === true,
    });
  } catch (error) {
    return notCapped(failureOf(error));
  }
}

function checked(relations: Relation | readonly Relation[]): readonly Relation[] {
  const list = Array.isArray(relations) ? (relations as readonly Relation[]) : [relations as Relation];
  return list.map((relation, index) => {
    for (const name of ['as', 'table', 'from', 'to'] as const) {
      if (typeof relation?.[name] !== 'string') {
        throw new TypeError(
          `relation ${index + 1}: ${name}: expected a name; a relation is { as, table, from, to, many }`,
        );
      }
    }
    return checkedRelation(relation, `relation ${index + 1}`);
  });
}

function notCapped(result: DbResult): PageResult {
  return pageResult(result, undefined);
}

/** Before anything is sent: a mistake here must not cost a find first. */
function checkedRelation(relation: Relation, path: string): Relation {
  checkNames(relation, RELATION_NAMES, path);
  return { ...relation, ...checkedParts(relation, `${path}: `) };
}

/** Puts the rows of one relation into `rows`. @returns the result of a find that failed */
async function relate(
  send: Send,
  namespace: string,
  rows: readonly DbRow[],
  keys: readonly DbRow[],
  relation: Relation,
): Promise<DbResult | null> {
  const { as, table, from, to, many, fields } = relation;
  const values = new Map<string, DbValue>();
  for (const key of keys) if (key[from] !== null && key[from] !== undefined) values.set(nameOf(key[from]), key[from]);
  const found = new Map<string, DbRow[]>();
  const hidesKey = fields !== undefined && !fields.includes(to);
  const { sort, max } = relation;
  const asked = { sort, max, fields: hidesKey ? [...fields, to] : fields };
  const all = [...values.values()] as Scalar[];
  for (let start = 0; start < all.length; start += MAX_VALUES) {
    const filter: Filter = { field: to, op: 'in', value: all.slice(start, start + MAX_VALUES) };
    const both: Filter = relation.filter === undefined ? filter : { and: [relation.filter, filter] };
    const result = await findAll(send, namespace, table, { ...asked, filter: both });
    if (result.State !== 'ok') return result;
    for (const other of readRows<DbRow>(result)) {
      const name = nameOf(other[to] ?? null);
      if (hidesKey) delete other[to];
      const others = found.get(name);
      if (others === undefined) found.set(name, [other]);
      else others.push(other);
    }
  }
  for (const [index, row] of rows.entries()) {
    const others = found.get(nameOf(keys[index]?.[from] ?? null)) ?? [];
    row[as] = many === true ? others : (others[0] ?? null);
  }
  return null;
}

/** Equal values of the two columns have one name, be they numbers, texts or truth values. */
function nameOf(value: DbValue): string {
  return `${typeof value === 'bigint' ? 'number' : typeof value} ${String(value)}`;
}
