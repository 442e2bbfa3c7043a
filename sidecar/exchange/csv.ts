import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import type { Column } from '#protocol/columns.ts';
import { exactNumber, type Json, JsonError, type JsonObject, parseJson } from '#protocol/json.ts';
import { type Value, writeValue } from '#protocol/values.ts';
import {
  type CsvOptions,
  type FileRecord,
  MAX_RECORD_CHARS,
  RowFileError,
  type RowReader,
  type RowWriter,
} from './row-format.ts';

/** Beginnings that a spreadsheet takes for a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;

/** A number in a spreadsheet's cell that has no room for its digits. */
const EXPONENT = /^[+-]?[\d.,]+E[+-]?\d+$/i;

/** RFC 4180 with a header of column names. */
export function csvWriter(columns: readonly Column[], { nullText, escapeFormulas }: CsvOptions): RowWriter {
  let escaped = 0;
  const cellOf = (column: Column, value: Value): string | null => {
    const text = textOf(column, value);
    if (text === null) return nullText;
    if (text === nullText) throw ambiguous(column, nullText);
    const isRisky = escapeFormulas && (column.type === 'string' || column.type === 'text') && FORMULA.test(text);
    if (isRisky) escaped += 1;
    return isRisky ? `'${text}` : text;
  };
  return {
    begin: () => lines([columns.map(({ name }) => name)], nullText),
    page: (rows) =>
      lines(
        rows.map((row) => columns.map((column) => cellOf(column, row.get(column.name) ?? null))),
        nullText,
      ),
    get escaped() {
      return escaped;
    },
  };
}

/** NULL is an empty field; an empty string stands in quotes unless a text of its own stands for NULL. */
function lines(records: (string | null)[][], nullText: string | null): string {
  return stringify(records, {
    record_delimiter: '\r\n',
    quoted_match: /[\r\n]/,
    cast: { string: (value) => (value === '' && nullText === null ? { value, quoted_empty: true } : value) },
  });
}

/** Text of a value as the API returns it, without the quotes of JSON. */
function textOf(column: Column, value: Value): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  const text = writeValue(column, value);
  return text.startsWith('"') ? text.slice(1, -1) : text;
}

function ambiguous({ name }: Column, nullText: string | null): RowFileError {
  return new RowFileError(`${name}: a row holds the text ${JSON.stringify(nullText)} itself; choose another --null`);
}

/** Reads what `csvWriter` and other programs write: with or without a byte order mark, lines ended by CRLF or LF. */
export function csvReader({ nullText }: Pick<CsvOptions, 'nullText'>): RowReader {
  return async function* read(text, columns) {
    const parser = parse({
      bom: true,
      cast: (value, { quoting }) => cellOf(value, quoting, nullText) as string,
      info: true,
      max_record_size: MAX_RECORD_CHARS,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
    });
    // Its fault is the parser's too.
    const feeding = pipeline(withCommas(text, columns), parser).catch(() => undefined);
    let names: readonly string[] | null = null;
    try {
      for await (const item of parser as AsyncIterable<ParsedRecord>) {
        if (names === null) names = headerOf(item.record, columns);
        else if (!isBlank(item, names)) yield recordOf(item, names, columns);
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      // The header may be lost with it.
      names ??= [];
      yield { line: Number(error.lines ?? 0), refusal: `this is no CSV: ${error.message}` };
    } finally {
      parser.destroy();
      await feeding;
    }
    if (names === null) throw new RowFileError('the file is empty: expected a header with the names of columns');
  };
}

type Cell = string | null;

interface ParsedRecord {
  readonly record: readonly Cell[];
  readonly info: { readonly lines: number };
}

function cellOf(value: string, isQuoted: boolean, nullText: string | null): Cell {
  if (nullText !== null) return value === nullText ? null : value;
  return value === '' && !isQuoted ? null : value;
}

/** Separators in place of commas: of spreadsheets in some languages, and of copied cells. */
const OTHER_SEPARATORS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs' };

/** @throws RowFileError for a header that is known but for its separators */
async function* withCommas(text: AsyncIterable<string>, columns: ReadonlyMap<string, Column>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const part of text) {
    if (isFirst) refuseOtherSeparators(part, columns);
    isFirst = false;
    yield part;
  }
}

function refuseOtherSeparators(part: string, columns: ReadonlyMap<string, Column>): void {
  const header = (/^\uFEFF?([^\r\n]*)/.exec(part)?.[1] ?? '').replaceAll('"', '');
  for (const [separator, separators] of Object.entries(OTHER_SEPARATORS)) {
    const names = header.split(separator);
    if (names.length === 1 || !names.every((name) => columns.has(name))) continue;
    throw new RowFileError(
      `header: fields are separated by ${separators}: save the file with commas, and with decimal points`,
    );
  }
}

/** Spreadsheets may end a file with lines that hold nothing. */
function isBlank({ record }: ParsedRecord, names: readonly string[]): boolean {
  return names.length > 1 && record.length === 1 && (record[0] === null || record[0] === '');
}

function headerOf(cells: readonly Cell[], columns: ReadonlyMap<string, Column>): readonly string[] {
  const names = cells.map((cell) => cell ?? '');
  const unknown = names.find((name) => !columns.has(name));
  if (unknown !== undefined) {
    const expected = [...columns.keys()].join(', ');
    throw new RowFileError(`header: the table has no column ${JSON.stringify(unknown)}; it has ${expected}`);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new RowFileError(`header: the column ${twice} stands there twice`);
  return names;
}

function recordOf(
  { record, info }: ParsedRecord,
  names: readonly string[],
  columns: ReadonlyMap<string, Column>,
): FileRecord {
  const { lines: line } = info;
  if (record.length !== names.length) {
    return { line, refusal: `expected ${names.length} fields, got ${record.length}` };
  }
  const row: JsonObject = Object.create(null);
  let chars = 0;
  for (const [i, name] of names.entries()) {
    const cell = record[i] ?? null;
    chars += cell?.length ?? 0;
    if (isCut(columns.get(name) as Column, cell)) return { line, refusal: `${name}: ${CUT}` };
    try {
      row[name] = cell === null ? null : jsonOf(columns.get(name) as Column, cell);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      return { line, refusal: `${name}: expected ${expectedOf(columns.get(name) as Column)}` };
    }
  }
  return { line, row, chars };
}

const CUT = 'expected all digits, got an exponent: a spreadsheet has cut the number; let it open this column as text';

/** JSON would read 9.00719925474099E+015 as an integer, and it is another one than before. */
function isCut({ type }: Column, cell: Cell): boolean {
  return (type === 'int32' || type === 'int64' || type === 'decimal') && EXPONENT.test(cell ?? '');
}

function expectedOf({ type }: Column): string {
  return type === 'json' ? 'a JSON text' : 'a number';
}

/** @throws JsonError */
function jsonOf({ type }: Column, text: string): Json {
  switch (type) {
    case 'int32':
    case 'int64':
    case 'float64':
      return exactNumber(text);
    case 'bool':
      // Spreadsheets write it in capitals.
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : text;
    case 'json':
      return parseJson(text);
    case 'decimal':
    case 'string':
    case 'text':
    case 'datetime':
    case 'date':
    case 'uuid':
    case 'bytes':
      return text;
    default:
      return type satisfies never;
  }
}
