import type { Column } from '#protocol/columns.ts';
import type { JsonObject } from '#protocol/json.ts';
import type { Row } from '../engine/rows.ts';

export const FORMAT_NAMES = ['csv', 'jsonl'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

export interface CsvOptions {
  /** Text that stands for NULL; null: NULL is an empty field without quotes, and `""` the empty string. */
  readonly nullText: string | null;
  /** Puts `'` before a text that a spreadsheet would run. Written only, never taken away again. */
  readonly escapeFormulas: boolean;
}

/** Text of a file of rows, page by page. */
export interface RowWriter {
  /** Text before the first row. */
  begin(): string;
  /** @throws RowFileError if a row cannot be written without a change of its meaning */
  page(rows: readonly Row[]): string;
  /** Texts that got a `'` so far. */
  readonly escaped: number;
}

/** Record of a file: a row, or the reason why it is none. */
export type FileRecord =
  | { readonly line: number; readonly row: JsonObject; readonly chars: number }
  | { readonly line: number; readonly refusal: string };

/** Records of a file in their order. `columns`: those that a file may name. */
export type RowReader = (
  text: AsyncIterable<string>,
  columns: ReadonlyMap<string, Column>,
) => AsyncIterable<FileRecord>;

/** A file that is no file of rows of this table, or a row that no file can hold. One line for the owner. */
export class RowFileError extends Error {
  override readonly name = 'RowFileError';
}

/** Longest record of a file, in characters: a row may hold several texts of a million. */
export const MAX_RECORD_CHARS = 67_108_864;
