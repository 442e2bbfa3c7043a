import type { Document } from 'mongodb';
import type { Column } from '#protocol/columns.ts';
import type { ComparisonOp, Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { type Value, writeValue } from '#protocol/values.ts';
import { type TableSize, unknownSize } from '../engine.ts';
import { PageBuilder, RowWriter } from '../model/page.ts';
import { HIDDEN_ID, physicalTable } from '../model/physical-names.ts';
import { endOfPrefix } from '../model/text-prefix.ts';
import type { FindQuery, Page, SortKey, TableTarget } from '../rows.ts';
import { collectionOf, fieldOf, fromBson, toBson, valueIn } from './documents.ts';
import type { MongoSession } from './session.ts';

/** More than any collection holds; every server accepts it. */
export const MAX_SKIP = 2 ** 31 - 1;

/** Reads documents in batches of at most 16 MiB, and no more of them than the page needs. */
export function find(session: MongoSession, target: TableTarget, query: FindQuery): Promise<Page> {
  const { fields, writer, projection } = selectionFor(target.table, query.fields);
  const match = matchOf(query.filter);
  const options = {
    ...(projection === null ? {} : { projection }),
    sort: sortOf(target.table, query.sort),
    skip: Math.min(query.offset, MAX_SKIP),
    limit: query.limit + 1,
    // The limit plus one: the server ends the cursor with the first answer.
    batchSize: query.limit + 2,
  };
  return session.look(async (db, time) => {
    const cursor = db.collection(collectionOf(target)).find(match, { ...options, ...time });
    const page = new PageBuilder(query.limit, query.maxBytes);
    try {
      for (let document = await cursor.next(); document !== null; document = await cursor.next()) {
        const found = document;
        if (!page.add(() => writer.write(fields.map((field) => valueIn(found, field) ?? null)))) break;
      }
    } finally {
      // This only tells the server to forget the cursor; do not wait for it.
      cursor.close().catch(() => {});
    }
    return page.page();
  });
}

/** Counts documents, because the size that a collection knows may be wrong after a crash. */
export async function count(session: MongoSession, target: TableTarget, filter: Filter | null): Promise<number> {
  const match = matchOf(filter);
  // Long counts come back as objects.
  return Number(await session.look((db, time) => db.collection(collectionOf(target)).countDocuments(match, time)));
}

interface Selection {
  readonly fields: readonly string[];
  readonly writer: RowWriter;
  /** Null for all columns: a document holds little else. */
  readonly projection: Document | null;
}

/** Selections of all columns, which most finds ask for. A table lives as long as its schema is cached. */
const wholeRows = new WeakMap<Table, Selection>();

function selectionFor(table: Table, names: readonly string[]): Selection {
  const isWhole = names.length === table.columns.length && names.every((name, i) => name === table.columns[i]?.name);
  if (!isWhole) return selectionOf(table, names, false);
  let whole = wholeRows.get(table);
  if (whole === undefined) {
    whole = selectionOf(table, names, true);
    wholeRows.set(table, whole);
  }
  return whole;
}

function selectionOf(table: Table, names: readonly string[], isWhole: boolean): Selection {
  const fields = names.map(fieldOf);
  const written = names.map((name) => {
    const column = columnNamed(table, name);
    return { name, encode: (value: unknown) => writeValue(column, fromBson(column, value)) };
  });
  const projection = isWhole ? null : Object.fromEntries([['_id', 0], ...fields.map((field) => [field, 1])]);
  return { fields, writer: new RowWriter(written), projection };
}

export function columnNamed(table: Table, name: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`column ${name} was not checked`);
  return column;
}

/** An absent field sorts first, as NULL does. The key, or the order of insertion, breaks every tie. */
function sortOf(table: Table, sort: readonly SortKey[]): Map<string, 1 | -1> {
  const ties = table.primaryKey ?? [HIDDEN_ID];
  const order = new Map<string, 1 | -1>();
  for (const { column, dir } of sort) {
    // After the key nothing is left to sort.
    if (ties.every((name) => order.has(fieldOf(name)))) break;
    order.set(fieldOf(column), dir === 'asc' ? 1 : -1);
  }
  for (const name of ties) if (!order.has(fieldOf(name))) order.set(fieldOf(name), 1);
  return order;
}

const OPPOSITE = { eq: 'ne', ne: 'eq', gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' } as const satisfies Record<
  ComparisonOp,
  ComparisonOp
>;

export const NOTHING: Document = { _id: { $in: [] } };

/** Condition that a document meets if the filter is true; null matches all. */
export function matchOf(filter: Filter | null): Document {
  return filter === null ? {} : match(filter, false);
}

/** All conditions together. Empty ones are left out, because MongoDB plans short conditions better. */
export function allOf(conditions: readonly Document[]): Document {
  const said = conditions.filter((condition) => Object.keys(condition).length > 0);
  const [first = {}] = said;
  return said.length < 2 ? first : { $and: said };
}

/**
 * Condition that holds if the filter is true or, negated, false. Negation goes down to the conditions (De Morgan). A
 * condition on a NULL column is neither true nor false: SQL's three-valued logic, which MongoDB's own `$not` and `$nor`
 * lack.
 */
function match(filter: Filter, negated: boolean): Document {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const members = filter.filters.map((member) => match(member, negated));
      return (filter.kind === 'and') === negated ? { $or: members } : { $and: members };
    }
    case 'not':
      return match(filter.filter, !negated);
    case 'compare':
      return comparison(filter.column, negated ? OPPOSITE[filter.op] : filter.op, filter.value);
    case 'in': {
      const values = filter.values.map((value) => bsonOf(filter.column, value));
      // NULL is neither in a list nor outside of one.
      return condition(filter.column, filter.negated === negated ? { $in: values } : { $nin: [...values, null] });
    }
    case 'null':
      return condition(filter.column, { $exists: filter.negated !== negated });
    case 'text':
      return filter.op === 'startsWith' ? startsWith(filter, negated) : contains(filter, negated);
    case 'constant':
      return filter.value === negated ? NOTHING : condition(filter.column, { $exists: true });
    default:
      return filter satisfies never;
  }
}

function condition(column: Column, operators: Document): Document {
  return { [fieldOf(column.name)]: operators };
}

function bsonOf(column: Column, value: Value) {
  return value === null ? null : toBson(column, value);
}

function comparison(column: Column, op: ComparisonOp, value: Value): Document {
  const operand = bsonOf(column, value);
  return condition(column, op === 'ne' ? { $nin: [operand, null] } : { [`$${op}`]: operand });
}

/** A range, which an index serves. */
function startsWith({ column, value }: Filter & { readonly kind: 'text' }, negated: boolean): Document {
  const end = endOfPrefix(value);
  if (!negated) return condition(column, end === null ? { $gte: value } : { $gte: value, $lt: end });
  const below = condition(column, { $lt: value });
  return end === null ? below : { $or: [below, condition(column, { $gte: end })] };
}

/** Compares bytes as they are, of any length; a pattern of a regular expression is limited to 32 KiB. */
function contains({ column, value }: Filter & { readonly kind: 'text' }, negated: boolean): Document {
  const position = { $indexOfBytes: [`$${fieldOf(column.name)}`, { $literal: value }] };
  // The position in NULL is NULL, which is neither.
  return { $expr: negated ? { $eq: [position, -1] } : { $gte: [position, 0] } };
}

/** Sizes of tables. The collection of a table without rows may not exist. */
export async function tableSizes(
  session: MongoSession,
  namespace: string,
  tables: readonly string[],
): Promise<TableSize[]> {
  const sizes: TableSize[] = [];
  for (const table of tables) {
    sizes.push(
      await session.look(async (db, time) => {
        const stats = await db.command({ collStats: physicalTable(namespace, table) }, time);
        const bytes = Number(stats.totalSize ?? Number(stats.storageSize) + Number(stats.totalIndexSize));
        if (!Number.isFinite(Number(stats.count))) return unknownSize(table);
        return {
          table,
          rows: Number(stats.count),
          isEstimate: true,
          bytes: Number.isFinite(bytes) ? bytes : null,
        };
      }),
    );
  }
  return sizes;
}
