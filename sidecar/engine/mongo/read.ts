import type { Document } from 'mongodb';
import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import { PageBuilder, RowWriter } from '../model/page.ts';
import { HIDDEN_ID } from '../model/physical-names.ts';
import type { FindQuery, Page, SortKey, TableTarget } from '../rows.ts';
import { collectionOf, fieldOf, fromBson, valueIn } from './documents.ts';
import { matchOf } from './filter.ts';
import type { MongoSession } from './session.ts';

/** More than any collection holds, and not more than every server takes. */
export const MAX_SKIP = 2 ** 31 - 1;

/** Documents are taken in batches of at most 16 MiB, and no more of them than the page needs. */
export function find(session: MongoSession, target: TableTarget, query: FindQuery): Promise<Page> {
  const { fields, writer, projection } = selectionFor(target.table, query.fields);
  const match = matchOf(query.filter);
  const options = {
    ...(projection === null ? {} : { projection }),
    sort: sortOf(target.table, query.sort),
    skip: Math.min(query.offset, MAX_SKIP),
    limit: query.limit + 1,
    // One more than there can be: the server ends the cursor with the first answer.
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
      // Only tells the server to forget it; nobody waits for that.
      cursor.close().catch(() => {});
    }
    return page.page();
  });
}

/** By looking: what a collection knows of its size may be wrong after a crash. */
export async function count(session: MongoSession, target: TableTarget, filter: Filter | null): Promise<number> {
  const match = matchOf(filter);
  // Long counts come back as objects.
  return Number(await session.look((db, time) => db.collection(collectionOf(target)).countDocuments(match, time)));
}

interface Selection {
  readonly fields: readonly string[];
  readonly writer: RowWriter;
  /** Null where all is wanted: what else a document has is little. */
  readonly projection: Document | null;
}

/** Of all columns, which is what most finds ask for. A table lives as long as its schema is cached. */
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
    // Where the key has been named there is nothing left to sort.
    if (ties.every((name) => order.has(fieldOf(name)))) break;
    order.set(fieldOf(column), dir === 'asc' ? 1 : -1);
  }
  for (const name of ties) if (!order.has(fieldOf(name))) order.set(fieldOf(name), 1);
  return order;
}
