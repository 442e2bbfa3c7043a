import type { JsonObject } from '#protocol/json.ts';
import { readFilter } from '../data/read-filter.ts';
import { columnsOf } from '../data/table-columns.ts';
import type { Engine } from '../engine/engine.ts';
import { type KeyRows, keyColumnsOf, readKeyPage } from '../engine/model/key-order.ts';
import { storageForm } from '../engine/model/storage-form.ts';
import { type Row, StaleSchemaError } from '../engine/rows.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import { csvWriter } from './csv.ts';
import { jsonLinesWriter } from './json-lines.ts';
import { type CsvOptions, type FormatName, RowFileError } from './row-format.ts';

/** A table whose rows go into a file or come out of one. */
export interface TableOfRows {
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  readonly namespace: string;
  readonly table: string;
}

export interface ExportOptions extends CsvOptions {
  readonly format: FormatName;
  /** Filter of the API; null for all rows. */
  readonly filter: JsonObject | null;
}

/** Part of a file of rows, and the number of rows so far. */
export interface ExportedPart {
  readonly text: string;
  readonly rows: number;
  /** Texts that got a `'` so far. */
  readonly escaped: number;
}

const PAGE_ROWS = 1000;
const PAGE_BYTES = 4_194_304;

/**
 * The rows of a table in key order. Each page is read by itself: a row that changes meanwhile is in the file as it was
 * or as it is, never torn.
 *
 */
export async function* exportRows(
  { engine, catalog, namespace, table: name }: TableOfRows,
  { format, filter, ...csv }: ExportOptions,
): AsyncGenerator<ExportedPart> {
  const declared = await catalog.table(namespace, name, statementBounds(), 'read');
  const { names, byName } = columnsOf(declared.table);
  const columns = names.flatMap((column) => byName.get(column) ?? []);
  const target = { ...declared, table: storageForm(declared.table) };
  const key = keyColumnsOf(target);
  const read = [...new Set([...key, ...columns])];
  const narrowed = readFilter(filter ?? undefined, declared.table, engine.capabilities);
  const writer = format === 'csv' ? csvWriter(columns, csv) : jsonLinesWriter(columns);
  const bounds = { key, columns: read, filter: narrowed, dir: 'asc', limit: PAGE_ROWS, maxBytes: PAGE_BYTES } as const;
  yield { text: writer.begin(), rows: 0, escaped: 0 };
  let rows = 0;
  for (let after: Row | null = null; ; ) {
    const { rows: page }: KeyRows = await patiently(() =>
      readKeyPage(engine, { target, after, ...bounds }, statementBounds()),
    ).catch((error: unknown) => {
      throw error instanceof StaleSchemaError ? changed(namespace) : error;
    });
    const last = page.at(-1);
    if (last === undefined) return;
    rows += page.length;
    yield { text: writer.page(page), rows, escaped: writer.escaped };
    after = last;
  }
}

function changed(namespace: string): RowFileError {
  return new RowFileError(`the schema of ${namespace} has changed meanwhile: export again`);
}
