import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';
import { type FilterWriter, filterSql as writeFilter } from '../sql/filter.ts';
import { type Physical, storageKind, toPhysical } from './dialect.ts';
import { quoted } from './names.ts';

/** Longer lists travel as one parameter: SQLite takes 32,766 of them, and a filter may hold 128 lists of 1000. */
const MAX_INLINE_VALUES = 32;
/** SQLite's own search takes time by length of text times length of part. */
const MAX_INSTR_CHARS = 32;

/** A filter as SQL, its values appended to `params` in order. */
export function filterSql(filter: Filter, params: Physical[]): string {
  return writeFilter(filter, new SqliteFilterWriter(params));
}

class SqliteFilterWriter implements FilterWriter {
  readonly #params: Physical[];

  constructor(params: Physical[]) {
    this.#params = params;
  }

  quoted(name: string): string {
    return quoted(name);
  }

  value(column: Column, value: Value): string {
    this.#params.push(toPhysical(column, value));
    return '?';
  }

  list(filter: Filter & { kind: 'in' }): string {
    return listSql(filter, this.#params);
  }

  contains({ column, value }: Filter & { kind: 'text' }): string {
    const name = quoted(column.name);
    this.#params.push(value);
    if (value.length > MAX_INSTR_CHARS) return `contains_text(${name}, ?)`;
    // A megabyte takes milliseconds, a filter has many conditions, and the guard of the row does not look at each.
    return column.type === 'text' ? `guard_now() AND instr(${name}, ?) > 0` : `instr(${name}, ?) > 0`;
  }
}

function listSql(filter: Filter & { kind: 'in' }, params: Physical[]): string {
  const name = quoted(filter.column.name);
  const not = filter.negated ? 'NOT ' : '';
  const values = filter.values.map((value) => toPhysical(filter.column, value));
  if (values.length <= MAX_INLINE_VALUES) return `${name} ${not}IN (${inlineList(values, params)})`;
  const kind = storageKind(filter.column);
  switch (kind) {
    case 'real':
      // SQLite's reader of numbers may be off by the last bit; JavaScript's is not.
      params.push(JSON.stringify(values));
      return `${not}listed_float(${name}, ?)`;
    case 'blob':
      params.push(
        JSON.stringify(
          values.map((value) =>
            Buffer.from(value as Uint8Array)
              .toString('hex')
              .toUpperCase(),
          ),
        ),
      );
      return hexListSql(name, not);
    case 'int':
    case 'scaled':
      params.push(`[${values.join(',')}]`);
      return `${name} ${not}IN (SELECT value FROM json_each(?))`;
    case 'text':
    case 'wide':
      params.push(JSON.stringify(values));
      return `${name} ${not}IN (SELECT value FROM json_each(?))`;
    default:
      return kind satisfies never;
  }
}

/** hex(NULL) is '', so NULL is asked for itself. */
function hexListSql(name: string, not: string): string {
  return `CASE WHEN ${name} IS NULL THEN NULL ELSE hex(${name}) ${not}IN (SELECT value FROM json_each(?)) END`;
}

/** Filled up to a power of two with its last value, so that few statements serve all lengths. */
function inlineList(values: readonly Physical[], params: Physical[]): string {
  const places = 2 ** Math.ceil(Math.log2(values.length));
  for (let place = 0; place < places; place++) params.push(values[Math.min(place, values.length - 1)] as Physical);
  return Array(places).fill('?').join(',');
}
