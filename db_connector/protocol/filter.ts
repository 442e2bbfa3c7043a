import { COLUMN_TYPES, type Column, FILTER_OPS, type FilterOp } from './columns.ts';
import { type Comparand, filterFault, parseComparand, searchedText } from './comparand.ts';
import type { ApiError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json-value.ts';
import { MAX_FILTER_CONDITIONS, MAX_FILTER_DEPTH, MAX_FILTER_LIST_VALUES, MAX_FILTER_TEXT_LENGTH } from './limits.ts';
import { namedColumn } from './schema.ts';
import type { Table } from './schema-types.ts';
import { kindOf } from './value-fault.ts';
import { isAtMostLong, isStorableText, maxLength } from './value-texts.ts';
import type { Value } from './values.ts';

export type ComparisonOp = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';

/** A checked filter. As in SQL every condition but `null` is unknown where the column is NULL. */
export type Filter =
  /** At least one member. */
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  /** Text may be longer than the column holds, and is compared as it is. All else is a value the column can hold. */
  | { readonly kind: 'compare'; readonly column: Column; readonly op: ComparisonOp; readonly value: Value }
  /** 1 to 1000 values. */
  | { readonly kind: 'in'; readonly column: Column; readonly negated: boolean; readonly values: readonly Value[] }
  /** IS NULL, negated IS NOT NULL; never unknown. */
  | { readonly kind: 'null'; readonly column: Column; readonly negated: boolean }
  /** Not empty, at most `MAX_FILTER_TEXT_LENGTH` long; case counts, nothing in it is a wildcard. */
  | { readonly kind: 'text'; readonly column: Column; readonly op: 'startsWith' | 'contains'; readonly value: string }
  /** `value` where the column is not NULL, else unknown: what a value that no row can hold comes to. */
  | { readonly kind: 'constant'; readonly column: Column; readonly value: boolean };

/** Throws `invalid_filter` or `unknown_column` with the path of what is wrong: "filter.and[2].value: …". */
export function parseFilter(json: Json, table: Table, path = 'filter'): Filter {
  return new FilterReader(table).read(json, path, 1);
}

class FilterReader {
  readonly #table: Table;
  #conditions = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  read(json: Json, path: string, depth: number): Filter {
    if (!isJsonObject(json)) throw filterFault(path, `expected an object, got ${kindOf(json)}`);
    if (depth > MAX_FILTER_DEPTH) throw filterFault(path, `more than ${MAX_FILTER_DEPTH} levels`);
    const groups = (['and', 'or', 'not'] as const).filter((name) => isGiven(json[name]));
    const [group] = groups;
    if (group === undefined) return this.#readCondition(json, path);
    if (groups.length > 1 || isGiven(json.field) || isGiven(json.op)) {
      throw filterFault(path, 'expected either a condition or exactly one of and, or, not');
    }
    const members = json[group] ?? null;
    if (group === 'not') return { kind: 'not', filter: this.read(members, `${path}.not`, depth + 1) };
    return { kind: group, filters: this.#readMembers(members, `${path}.${group}`, depth + 1) };
  }

  #readMembers(json: Json, path: string, depth: number): readonly Filter[] {
    if (!Array.isArray(json)) throw filterFault(path, `expected an array, got ${kindOf(json)}`);
    if (json.length === 0) throw filterFault(path, 'expected at least one filter');
    return json.map((member, i) => this.read(member, `${path}[${i}]`, depth));
  }

  #readCondition(json: JsonObject, path: string): Filter {
    if (++this.#conditions > MAX_FILTER_CONDITIONS) {
      throw filterFault(path, `more than ${MAX_FILTER_CONDITIONS} conditions`);
    }
    const { field, op, value } = json;
    if (typeof field !== 'string') throw filterFault(`${path}.field`, `expected a column, got ${kindOf(field)}`);
    if (!isFilterOp(op)) throw filterFault(`${path}.op`, `expected one of ${FILTER_OPS.join(', ')}`);
    const column = namedColumn(this.#table, field, `${path}.field`);
    const ops: readonly FilterOp[] = COLUMN_TYPES[column.type].filterOps;
    if (!ops.includes(op)) throw filterFault(`${path}.op`, `${op} does not suit a column of type ${column.type}`);
    return readOp(column, op, value, `${path}.value`);
  }
}

/** null for an optional property means left out (contract section 3). */
function isGiven(json: Json | undefined): boolean {
  return json !== undefined && json !== null;
}

function isFilterOp(op: Json | undefined): op is FilterOp {
  return typeof op === 'string' && (FILTER_OPS as readonly string[]).includes(op);
}

function readOp(column: Column, op: FilterOp, value: Json | undefined, path: string): Filter {
  switch (op) {
    case 'isNull':
      if (value !== undefined && typeof value !== 'boolean') {
        throw filterFault(path, `expected true or false, got ${kindOf(value)}`);
      }
      return { kind: 'null', column, negated: value === false };
    case 'in':
    case 'nin':
      return readList(column, op === 'nin', value, path);
    case 'startsWith':
    case 'contains':
      return readText(column, op, value, path);
    case 'eq':
    case 'ne':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return readComparison(column, op, value, path);
    default:
      return op satisfies never;
  }
}

function readComparison(column: Column, op: ComparisonOp, value: Json | undefined, path: string): Filter {
  if (value === undefined) throw filterFault(path, 'expected a value');
  if (value !== null) return compare(column, op, parseComparand(column, value, path));
  if (op === 'eq' || op === 'ne') return { kind: 'null', column, negated: op === 'ne' };
  throw filterFault(path, `${op} takes no null`);
}

function compare(column: Column, op: ComparisonOp, comparand: Comparand): Filter {
  if (comparand.at === 'value') return { kind: 'compare', column, op, value: comparand.value };
  if (op === 'eq' || op === 'ne') return { kind: 'constant', column, value: op === 'ne' };
  const isUpward = op === 'gt' || op === 'gte';
  switch (comparand.at) {
    case 'unequal':
      return { kind: 'compare', column, op, value: comparand.value };
    case 'gapAfter':
      return { kind: 'compare', column, op: isUpward ? 'gt' : 'lte', value: comparand.below };
    case 'gapBefore':
      return { kind: 'compare', column, op: isUpward ? 'gte' : 'lt', value: comparand.above };
    case 'belowAll':
      return { kind: 'constant', column, value: isUpward };
    case 'aboveAll':
      return { kind: 'constant', column, value: !isUpward };
    case 'nowhere':
      return { kind: 'constant', column, value: false };
    default:
      return comparand satisfies never;
  }
}

function readList(column: Column, negated: boolean, value: Json | undefined, path: string): Filter {
  if (!Array.isArray(value)) throw filterFault(path, `expected an array, got ${kindOf(value)}`);
  if (value.length < 1 || value.length > MAX_FILTER_LIST_VALUES) {
    throw filterFault(path, `expected 1 to ${MAX_FILTER_LIST_VALUES} values, got ${value.length}`);
  }
  const values: Value[] = [];
  for (const [i, item] of value.entries()) {
    if (item === null) throw filterFault(`${path}[${i}]`, 'expected a value, got null');
    const comparand = parseComparand(column, item, `${path}[${i}]`);
    if (comparand.at === 'value') values.push(comparand.value);
  }
  if (values.length === 0) return { kind: 'constant', column, value: negated };
  return { kind: 'in', column, negated, values };
}

function readText(column: Column, op: 'startsWith' | 'contains', value: Json | undefined, path: string): Filter {
  if (typeof value !== 'string' || value === '') throw filterFault(path, 'expected a string that is not empty');
  if (!isAtMostLong(value, MAX_FILTER_TEXT_LENGTH)) throw textTooLong(column, op, path);
  const text = searchedText(column, value);
  // A single character may fold to eighteen.
  if (!isAtMostLong(text, MAX_FILTER_TEXT_LENGTH)) throw textTooLong(column, op, path);
  // Folding has left nothing of it, and every text begins with nothing.
  if (text === '') return { kind: 'constant', column, value: true };
  const canMatch = isStorableText(text) && isAtMostLong(text, maxLength(column));
  return canMatch ? { kind: 'text', column, op, value: text } : { kind: 'constant', column, value: false };
}

function textTooLong({ name }: Column, op: string, path: string): ApiError {
  return filterFault(path, `${op} on ${name} takes at most ${MAX_FILTER_TEXT_LENGTH} characters`);
}
