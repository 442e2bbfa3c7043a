import type { Json } from './json-value.ts';

export const FILTER_OPS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'nin',
  'isNull',
  'startsWith',
  'contains',
] as const;

export type FilterOp = (typeof FILTER_OPS)[number];

/** Allowed uses of a column type. */
export interface ColumnTypeFacts {
  readonly hasLength: boolean;
  readonly hasPrecision: boolean;
  readonly isSortable: boolean;
  /** May stand in a primary key, an index, and be unique. */
  readonly isIndexable: boolean;
  /** May be grouped by and compared in an aggregate. */
  readonly isGroupable: boolean;
  /** `inc` may add to it. */
  readonly isNumeric: boolean;
  readonly filterOps: readonly FilterOp[];
  /** Width in an index, in bytes; a string counts 4 a character instead (contract section 6). */
  readonly indexBytes: number;
  /** Accepted JSON, in words for messages and the API's description. */
  readonly accepts: string;
  readonly returns: string;
}

const EQUALITY_OPS = ['eq', 'ne', 'in', 'nin', 'isNull'] as const;
const ORDER_OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'isNull'] as const;
const JSON_OPS = ['eq', 'ne', 'isNull'] as const;

const ORDERED = {
  hasLength: false,
  hasPrecision: false,
  isSortable: true,
  isIndexable: true,
  isGroupable: true,
  isNumeric: false,
  filterOps: ORDER_OPS,
  indexBytes: 16,
} as const;

const TEXTUAL = { ...ORDERED, filterOps: FILTER_OPS } as const;
const NUMERIC = { ...ORDERED, isNumeric: true } as const;
const BULKY = { isIndexable: false, isGroupable: false } as const;

/** The twelve column types (the specification's "Value formats per column type", contract sections 4 to 6). */
export const COLUMN_TYPES = {
  int32: { ...NUMERIC, accepts: 'an integer of 32 bits', returns: 'number' },
  int64: { ...NUMERIC, accepts: 'an integer of 64 bits', returns: 'number, digit for digit' },
  decimal: {
    ...NUMERIC,
    hasPrecision: true,
    indexBytes: 20,
    accepts: 'a number or a numeric string',
    returns: 'number with its exact digits and no trailing zeros',
  },
  float64: { ...NUMERIC, accepts: 'a number', returns: 'the shortest number that reads back the same' },
  bool: { ...ORDERED, filterOps: EQUALITY_OPS, accepts: 'true or false', returns: 'boolean' },
  string: { ...TEXTUAL, hasLength: true, accepts: 'a string', returns: 'string' },
  text: { ...TEXTUAL, ...BULKY, accepts: 'a string', returns: 'string' },
  json: {
    ...ORDERED,
    ...BULKY,
    isSortable: false,
    filterOps: JSON_OPS,
    accepts: 'any JSON value',
    returns: 'the same JSON value',
  },
  datetime: {
    ...ORDERED,
    accepts: 'a time as YYYY-MM-DDTHH:MM:SS[.f][Z or ±HH:MM]',
    returns: 'YYYY-MM-DDTHH:MM:SS.mmmZ',
  },
  date: { ...ORDERED, accepts: 'a day as YYYY-MM-DD', returns: 'YYYY-MM-DD' },
  uuid: { ...ORDERED, accepts: 'a UUID with hyphens', returns: 'lower-case UUID' },
  bytes: {
    ...ORDERED,
    ...BULKY,
    filterOps: EQUALITY_OPS,
    accepts: 'canonical base64 with padding',
    returns: 'base64 string',
  },
} as const satisfies Record<string, ColumnTypeFacts>;

export type ColumnType = keyof typeof COLUMN_TYPES;

export const COLUMN_TYPE_NAMES = Object.keys(COLUMN_TYPES) as readonly ColumnType[];

export function isColumnType(name: unknown): name is ColumnType {
  return typeof name === 'string' && Object.hasOwn(COLUMN_TYPES, name);
}

/** Where a derived column takes its values from (contract section 11). */
export interface Derivation {
  /** A json, string or text column of the same table. */
  readonly from: string;
  /** Property names and indexes that lead to the value, for a json source only; absent for the whole value. */
  readonly path?: readonly (string | number)[];
  /** For a column of type string only. */
  readonly fold?: boolean;
}

/** A column of a normalised schema: what does not apply is absent, what has a default is written out. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Code points; `string` only. */
  readonly length?: number;
  /** `decimal` only, as is `scale`. */
  readonly precision?: number;
  readonly scale?: number;
  readonly nullable: boolean;
  readonly unique: boolean;
  readonly autoIncrement: boolean;
  /** In the form in which it is returned; "now" and "random" are filled in at insert. */
  readonly default?: Json;
  readonly derived?: Derivation;
  /** `datetime` and `date` only. */
  readonly onUpdate?: 'now';
  /** `string` only: the values that it may hold, beside NULL. */
  readonly oneOf?: readonly string[];
  /**
   * A derived column whose rows are still being filled: every write keeps it, nobody may read it yet, and neither the
   * hash nor a description knows it. Only stored schemas have such a column.
   */
  readonly filling?: true;
}

/** Width of a column inside an index, in bytes of the narrowest engine (contract section 6). */
export function indexBytes(column: Column): number {
  return column.type === 'string' ? stringBytes(column) : COLUMN_TYPES[column.type].indexBytes;
}

export function stringBytes(column: Column): number {
  return column.type === 'string' ? 4 * (column.length ?? 0) : 0;
}
