import type { ComparisonOp, Filter } from '../../../db_connector/protocol/filter.ts';
import { endOfPrefix } from '../text-prefix.ts';
import { quoted } from './names.ts';
import { type Physical, storageKind, toPhysical } from './storage.ts';

const OPERATORS = { eq: '=', ne: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const satisfies Record<
  ComparisonOp,
  string
>;

/** Longer lists travel as one parameter: SQLite takes 32,766 of them, and a filter may hold 128 lists of 1000. */
const MAX_INLINE_VALUES = 32;
/** SQLite's own search takes time by length of text times length of part. */
const MAX_INSTR_CHARS = 32;

/**
 * A filter as SQL, its values appended to `params` in order. Three-valued logic is SQLite's own: a comparison with NULL
 * is NULL, and so is NOT NULL.
 */
export function filterSql(filter: Filter, params: Physical[]): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const members = filter.filters.map((member) => filterSql(member, params));
      return `(${members.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `(NOT ${filterSql(filter.filter, params)})`;
    case 'compare':
      params.push(toPhysical(filter.column, filter.value));
      return `(${quoted(filter.column.name)} ${OPERATORS[filter.op]} ?)`;
    case 'in':
      return inSql(filter, params);
    case 'null':
      return `(${quoted(filter.column.name)} IS ${filter.negated ? 'NOT NULL' : 'NULL'})`;
    case 'text':
      return filter.op === 'startsWith' ? startsWithSql(filter, params) : containsSql(filter, params);
    case 'constant':
      return constantSql(quoted(filter.column.name), filter.value);
    default:
      return filter satisfies never;
  }
}

function constantSql(name: string, value: boolean): string {
  return value ? `(${name} IS NOT NULL OR NULL)` : `(${name} IS NULL AND NULL)`;
}

function inSql(filter: Filter & { kind: 'in' }, params: Physical[]): string {
  const name = quoted(filter.column.name);
  const not = filter.negated ? 'NOT ' : '';
  const values = filter.values.map((value) => toPhysical(filter.column, value));
  if (values.length <= MAX_INLINE_VALUES) return `(${name} ${not}IN (${inlineList(values, params)}))`;
  const kind = storageKind(filter.column);
  switch (kind) {
    case 'real':
      // SQLite's reader of numbers may be off by the last bit; JavaScript's is not.
      params.push(JSON.stringify(values));
      return `(${not}listed_float(${name}, ?))`;
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
      return `(${name} ${not}IN (SELECT value FROM json_each(?)))`;
    case 'text':
    case 'wide':
      params.push(JSON.stringify(values));
      return `(${name} ${not}IN (SELECT value FROM json_each(?)))`;
    default:
      return kind satisfies never;
  }
}

/** hex(NULL) is '', so NULL is asked for itself. */
function hexListSql(name: string, not: string): string {
  return `(CASE WHEN ${name} IS NULL THEN NULL ELSE hex(${name}) ${not}IN (SELECT value FROM json_each(?)) END)`;
}

/** Filled up to a power of two with its last value, so that few statements serve all lengths. */
function inlineList(values: readonly Physical[], params: Physical[]): string {
  const places = 2 ** Math.ceil(Math.log2(values.length));
  for (let place = 0; place < places; place++) params.push(values[Math.min(place, values.length - 1)] as Physical);
  return Array(places).fill('?').join(',');
}

/** A range, which an index serves. */
function startsWithSql(filter: Filter & { kind: 'text' }, params: Physical[]): string {
  const name = quoted(filter.column.name);
  const end = endOfPrefix(filter.value);
  params.push(filter.value);
  if (end === null) return `(${name} >= ?)`;
  params.push(end);
  return `(${name} >= ? AND ${name} < ?)`;
}

function containsSql(filter: Filter & { kind: 'text' }, params: Physical[]): string {
  const name = quoted(filter.column.name);
  params.push(filter.value);
  return filter.value.length <= MAX_INSTR_CHARS ? `(instr(${name}, ?) > 0)` : `contains_text(${name}, ?)`;
}
