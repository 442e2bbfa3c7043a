import { type Column, findTable, type Table } from '#protocol/schema.ts';
import type { Engine } from '../engine/engine.ts';
import { keptOfText } from '../engine/model/kept.ts';
import { type KeyRows, keyColumnsOf, readKeyPage } from '../engine/model/key-order.ts';
import { schemaOfText } from '../engine/model/schema-text.ts';
import { keptColumnForm, storageForm } from '../engine/model/storage-form.ts';
import type { Row, SortKey, TableTarget } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { KeptObject } from '../engine/transfer.ts';
import { patiently, statementBounds } from './patience.ts';

/** Rows that move together: those of a table, or of an object in quarantine. They are read and written in key order. */
export interface Place {
  /** For the owner: "characters", "quarantined table old_notes", "quarantined column notes.title". */
  readonly label: string;
  /** In storage form, so with a key. */
  readonly target: TableTarget;
  /** Key of the storage form. */
  readonly key: readonly Column[];
}

export function tablePlace({ namespace, revision }: StoredSchema, table: Table): Place {
  return placeOf(table.name, { namespace, revision, table: storageForm(table) });
}

export function keptPlace({ namespace, revision }: StoredSchema, kept: KeptObject): Place {
  const { physical, kind, table, column } = kept;
  const label = `quarantined ${kind} ${column === null ? table : `${table}.${column}`}`;
  return placeOf(label, { namespace, revision, table: storageForm(keptShape(kept)), physical });
}

/** The table that holds what is kept: without indexes, since rows are only carried. */
export function keptShape({ kind, table: name, definition }: Pick<KeptObject, 'kind' | 'table' | 'definition'>): Table {
  if (kind === 'column') {
    const { key, column } = keptOfText(definition);
    return keptColumnForm(name, key, column);
  }
  const table = findTable(schemaOfText(definition), name);
  if (table === null) throw new Error(`the definition of the quarantined table ${name} lacks it`);
  return { ...table, columns: table.columns.map((column) => ({ ...column, unique: false })), indexes: [] };
}

function placeOf(label: string, target: TableTarget): Place {
  return { label, target, key: keyColumnsOf(target) };
}

const MOST_ROWS = 1000;
const FIRST_ROWS = 32;
/** Texts of pages stay in the young generation, and engines read little that does not fit. */
const PAGE_CHARS = 131_072;

/** The rows of a place in key order, from after `start` (null: from the first), page by page; the next one is under way already. */
export async function* readPages(engine: Engine, place: Place, start: Row | null): AsyncGenerator<KeyRows> {
  let next: Promise<KeyRows> | null = readPage(engine, place, start, FIRST_ROWS);
  try {
    while (next !== null) {
      const page: KeyRows = await next;
      const last = page.rows.at(-1);
      next = last === undefined ? null : readPage(engine, place, last, rowsThatFit(page));
      if (page.rows.length > 0) yield page;
    }
  } finally {
    // A reader that leaves early does not wait for the page that was asked for ahead, and does not hear of its failure.
    next?.catch(() => undefined);
  }
}

/** Null if the place is empty. */
export async function lastRow(engine: Engine, place: Place): Promise<Row | null> {
  const { rows } = await find(engine, place, null, 'desc', 1);
  const [row] = rows;
  return row ?? null;
}

/** As long as those of the page before. */
function rowsThatFit({ rows, chars }: KeyRows): number {
  return Math.min(MOST_ROWS, Math.max(1, Math.floor((rows.length * PAGE_CHARS) / chars)));
}

function readPage(engine: Engine, place: Place, after: Row | null, rows: number): Promise<KeyRows> {
  return find(engine, place, after, 'asc', rows);
}

function find(
  engine: Engine,
  { target, key }: Place,
  after: Row | null,
  dir: SortKey['dir'],
  limit: number,
): Promise<KeyRows> {
  const page = { target, key, columns: target.table.columns, after, dir, limit, maxBytes: PAGE_CHARS };
  return patiently(() => readKeyPage(engine, page, statementBounds()));
}
