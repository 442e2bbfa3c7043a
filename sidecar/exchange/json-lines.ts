import type { Column } from '#protocol/columns.ts';
import { isJsonObject, JsonError, parseJson } from '#protocol/json.ts';
import { writeValue } from '#protocol/values.ts';
import type { Row } from '../engine/rows.ts';
import { type FileRecord, MAX_RECORD_CHARS, RowFileError, type RowReader, type RowWriter } from './row-format.ts';

/** Writes a JSON object a line, values as the API returns them. */
export function jsonLinesWriter(columns: readonly Column[]): RowWriter {
  return {
    begin: () => '',
    page: (rows) => rows.map((row) => `${objectText(columns, row)}\n`).join(''),
    escaped: 0,
  };
}

function objectText(columns: readonly Column[], row: Row): string {
  const members = columns.map(
    (column) => `${JSON.stringify(column.name)}:${writeValue(column, row.get(column.name) ?? null)}`,
  );
  return `{${members.join(',')}}`;
}

export const jsonLinesReader: RowReader = async function* read(text) {
  let line = 0;
  for await (const content of linesOf(text)) {
    line += 1;
    if (content.trim() !== '') yield recordOf(line, content);
  }
};

function recordOf(line: number, text: string): FileRecord {
  try {
    const row = parseJson(text);
    return isJsonObject(row) ? { line, row, chars: text.length } : { line, refusal: 'expected a JSON object' };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { line, refusal: error.message };
  }
}

/** Lines by line feeds alone: JSON may hold the other separators of Unicode. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  let isFirst = true;
  for await (const part of text) {
    const pieces = (rest + (isFirst ? part.replace(/^\uFEFF/, '') : part)).split('\n');
    isFirst = false;
    rest = pieces.pop() ?? '';
    yield* pieces;
    if (rest.length > MAX_RECORD_CHARS) throw new RowFileError('a line has more than 64 million characters');
  }
  if (rest !== '') yield rest;
}
