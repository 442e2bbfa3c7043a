import { createHash } from 'node:crypto';
import { ApiError } from '#protocol/errors.ts';
import { columnsOf } from '../data/table-columns.ts';
import { DiskFullError } from '../engine/disk-full.ts';
import { type IdempotencySlot, StaleSchemaError, type TableTarget } from '../engine/rows.ts';
import { namingFullDatabase } from '../moving/free-space.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { type NumberedRow, type Refusal, reasonOf, rowOf, UniqueCheck } from './check-rows.ts';
import { csvReader } from './csv.ts';
import type { TableOfRows } from './export-rows.ts';
import { type ImportMark, newImportMark, readImportMark, writeImportMark } from './import-mark.ts';
import { jsonLinesReader } from './json-lines.ts';
import type { RowFile } from './row-file.ts';
import { type FileRecord, type FormatName, RowFileError } from './row-format.ts';

export interface ImportOptions {
  readonly format: FormatName;
  /** Text that stands for NULL in CSV; null: an empty field without quotes. */
  readonly nullText: string | null;
  /** Epoch milliseconds: value of the default `now` in every row. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Called after each batch with the number of rows that are checked or written. */
  readonly onRows: (step: 'check' | 'write', rows: number) => void;
}

export interface CheckedFile {
  readonly rows: number;
  /** The first ones, by line. */
  readonly refusals: readonly Refusal[];
  /** Number of all refused lines. */
  readonly refused: number;
  /** Rows that an earlier run of the same import has written. */
  readonly written: number;
}

const BATCH_ROWS = 500;
const BATCH_CHARS = 4_194_304;
const MAX_REFUSALS = 1000;
const KEY_ID = 'rows import';
/** How long after a cut an import can go on without doubt about its last batch. */
const SLOT_MS = 30 * 86_400_000;

/** A file on its way into one table. Lines are checked by `check`, then written by `write`. */
export class RowImport {
  readonly #place: TableOfRows;
  readonly #file: RowFile;
  readonly #options: ImportOptions;
  #mark: ImportMark | null = null;

  constructor(place: TableOfRows, file: RowFile, options: ImportOptions) {
    this.#place = place;
    this.#file = file;
    this.#options = options;
  }

  /** Reads the whole file and writes nothing. @throws RowFileError, ApiError of namespace and table */
  async check(): Promise<CheckedFile> {
    const { engine } = this.#place;
    const target = await this.#target();
    // The file's SHA-256 names the import, so it is read once before its mark can be.
    for await (const _ of this.#file.text()) this.#options.signal.throwIfAborted();
    this.#mark = await readImportMark(engine, this.#markName());
    const unique = new UniqueCheck(engine, target);
    const refusals: Refusal[] = [];
    let rows = 0;
    let written = 0;
    for await (const batch of this.#batches(target)) {
      const isWritten = this.#mark !== null && batch.index <= this.#mark.batches;
      refusals.push(...batch.refusals, ...(await unique.refusals(batch.rows, isWritten)));
      rows += batch.rows.length;
      if (this.#mark !== null && batch.index < this.#mark.batches) written += batch.rows.length;
      this.#options.onRows('check', batch.rows.length);
    }
    refusals.sort((a, b) => a.line - b.line);
    const refused = new Set(refusals.map(({ line }) => line)).size;
    return { rows, written, refused, refusals: refusals.slice(0, MAX_REFUSALS) };
  }

  /**
   * Inserts the rows of a file that was checked without a refusal; returns their number. The same call after a crash goes
   * on with the next batch. @throws MoveRefused if the disk of the database is full
   */
  write(): Promise<number> {
    const after = 'Rows that were written stay; run the same import again then: it goes on with the others';
    return namingFullDatabase(after, () => this.#writeAll());
  }

  async #writeAll(): Promise<number> {
    const { engine } = this.#place;
    const mark = this.#mark ?? newImportMark();
    const name = this.#markName();
    if (this.#mark === null) await writeImportMark(engine, name, mark);
    let rows = 0;
    for await (const batch of this.#batches(await this.#target())) {
      if (batch.index >= mark.batches) {
        await this.#insert(batch, mark);
        await writeImportMark(engine, name, { ...mark, batches: batch.index + 1 });
      }
      rows += batch.rows.length;
      this.#options.onRows('write', batch.rows.length);
    }
    await writeImportMark(engine, name, null);
    return rows;
  }

  async *#batches(target: TableTarget): AsyncGenerator<Batch> {
    const { format, nullText, now, signal } = this.#options;
    const read = format === 'csv' ? csvReader({ nullText }) : jsonLinesReader;
    let batch = new Batch(0);
    for await (const record of read(this.#file.text(), columnsOf(target.table).byName)) {
      batch.add(record, target, now);
      if (!batch.isFull) continue;
      signal.throwIfAborted();
      yield batch;
      batch = new Batch(batch.index + 1);
    }
    signal.throwIfAborted();
    if (!batch.isEmpty) yield batch;
  }

  /** The key tells whether the batch is in the table, whatever became of the run that wrote it. */
  async #insert({ index, rows, lines }: Batch, { id }: ImportMark): Promise<void> {
    const { engine, namespace } = this.#place;
    const target = await this.#target();
    const { now } = this.#options;
    const key = `import:${this.#file.sha256()}:${index}:${id}`;
    const fingerprint = createHash('sha256').update(key).digest('hex');
    const slot: IdempotencySlot = { kid: KEY_ID, namespace, key, fingerprint, now, expiresAt: Date.now() + SLOT_MS };
    const write = { op: 'insert', rows: rows.map(({ row }) => row) } as const;
    await patiently(() => engine.write(target, write, slot, statementBounds())).catch((error: unknown) => {
      if (error instanceof StaleSchemaError)
        throw new RowFileError(`the schema of ${namespace} has changed meanwhile: run the same command again`);
      if (error instanceof ApiError && !(error instanceof DiskFullError))
        throw new RowFileError(`${lines} could not be written: ${error.message}; the lines before are in the table`);
      throw error;
    });
  }

  async #target(): Promise<TableTarget> {
    const { catalog, namespace, table } = this.#place;
    return catalog.table(namespace, table, statementBounds(), 'write');
  }

  #markName(): string {
    const { namespace, table } = this.#place;
    return `rows_import:${namespace}.${table}:${this.#file.sha256().slice(0, 32)}`;
  }
}

/** Rows that are inserted together: always the same ones of the same file. */
class Batch {
  readonly index: number;
  readonly rows: NumberedRow[] = [];
  readonly refusals: Refusal[] = [];
  #chars = 0;

  constructor(index: number) {
    this.index = index;
  }

  add(record: FileRecord, { table }: TableTarget, now: number): void {
    const { line } = record;
    if ('refusal' in record) {
      this.refusals.push({ line, reason: record.refusal });
      return;
    }
    this.#chars += record.chars;
    try {
      this.rows.push({ line, row: rowOf(table, record.row, now) });
    } catch (error) {
      this.refusals.push({ line, reason: reasonOf(error) });
    }
  }

  get isFull(): boolean {
    return this.rows.length + this.refusals.length >= BATCH_ROWS || this.#chars >= BATCH_CHARS;
  }

  get isEmpty(): boolean {
    return this.rows.length + this.refusals.length === 0;
  }

  get lines(): string {
    return `lines ${this.rows[0]?.line ?? 0} to ${this.rows.at(-1)?.line ?? 0}`;
  }
}
