import type { Scalar } from './filters.ts';
import type { ColumnShape, DbValue } from './typed-rows.ts';
import type { ExactNumber, Text } from './typed-text.ts';

export type ColumnTypeName =
  | 'int32'
  | 'int64'
  | 'decimal'
  | 'float64'
  | 'bool'
  | 'string'
  | 'text'
  | 'json'
  | 'datetime'
  | 'date'
  | 'uuid'
  | 'bytes';

/** Options of every column. Without any of them a column is required. */
export interface ColumnOptions {
  /** NULL is allowed. */
  readonly nullable?: boolean;
  /** Stored if a new row leaves the column out. Existing rows get it too when the column is added. */
  readonly default?: Scalar | object | null;
  /** No two rows have the same value; many NULLs may stand beside each other. Makes an index. */
  readonly unique?: boolean;
  /** The column's name until now. Keeps the data; may stay for good. */
  readonly renamedFrom?: string;
  /** Written by the sidecar alone, out of another column: see `Q.Derived`. */
  readonly derived?: Derivation;
}

/** Source of the value of a derived column. */
export interface Derivation {
  /** The column it is taken from. */
  readonly from: string;
  /** Out of a json column: names of properties and places in lists, from the outside in. */
  readonly path?: readonly (string | number)[];
  /** Without accents, case and outer spaces, for searching; filters on the column are folded the same way. */
  readonly fold?: boolean;
}

export interface IntegerOptions extends ColumnOptions {
  readonly default?: number | bigint | ExactNumber | null;
  /** Counts from 1 by itself, never the same number twice. The column must be the whole primary key. */
  readonly autoIncrement?: boolean;
}

export interface TextOptions extends ColumnOptions {
  readonly default?: string | null;
  /** Characters, 1 to 4000; 255 if not said. */
  readonly length?: number;
  /** The only values that are taken; anything else is `invalid_value`. */
  readonly oneOf?: readonly string[];
}

export interface LongTextOptions extends ColumnOptions {
  readonly default?: string | null;
}

export interface DecimalOptions extends ColumnOptions {
  readonly default?: number | bigint | string | ExactNumber | null;
  /** Digits in all, 1 to 34; 18 if not said. */
  readonly precision?: number;
  /** Digits after the point, 0 to precision; 4 if not said. More are refused, never rounded. */
  readonly scale?: number;
}

export interface DoubleOptions extends ColumnOptions {
  readonly default?: number | ExactNumber | null;
}

export interface BoolOptions extends ColumnOptions {
  readonly default?: boolean | null;
}

export interface TimeOptions extends ColumnOptions {
  /** `'now'`: the moment of the insert, by the sidecar's clock. */
  readonly default?: 'now' | (string & {}) | Date | null;
  /** `'now'`: set at every update that does not set it. */
  readonly onUpdate?: 'now';
}

export interface UuidOptions extends ColumnOptions {
  /** `'random'`: a new one with each insert. */
  readonly default?: 'random' | (string & {}) | null;
}

/** All of them; for `Q.Column`. */
export interface AnyColumnOptions extends ColumnOptions {
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly autoIncrement?: boolean;
  readonly oneOf?: readonly string[];
  readonly onUpdate?: 'now';
}

/** Options of a derived column: its source, and the options of its type. */
export interface DerivedOptions extends Derivation {
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly unique?: boolean;
  readonly renamedFrom?: string;
}

export interface ColumnDeclaration extends AnyColumnOptions {
  readonly name: string;
  readonly type: ColumnTypeName;
}

/** Types that are read from a column of each type, and types that may be written. */
interface Values {
  readonly int32: [read: number, write: number | ExactNumber];
  readonly int64: [read: number | bigint, write: number | bigint | ExactNumber];
  readonly decimal: [read: number | bigint | string, write: number | bigint | string | ExactNumber];
  readonly float64: [read: number, write: number | ExactNumber];
  readonly bool: [read: boolean, write: boolean];
  readonly string: [read: string, write: string];
  readonly text: [read: string, write: string];
  readonly json: [read: DbValue, write: unknown];
  readonly datetime: [read: string, write: string | Date];
  readonly date: [read: string, write: string];
  readonly uuid: [read: string, write: string];
  readonly bytes: [read: string, write: string | Uint8Array];
}

type IsNull<O> = O extends { readonly nullable: true } | { readonly derived: object } ? null : never;

type Has<O> = O extends { readonly derived: object }
  ? 'derived'
  : O extends { readonly nullable: true } | { readonly autoIncrement: true } | { readonly default: Scalar | object }
    ? 'optional'
    : 'required';

type Narrowed<O, V> = O extends { readonly oneOf: readonly (infer S)[] } ? S : V;

/** Text of a column, which the row types of its table are made of. */
export type ColumnText<N extends string, T extends ColumnTypeName, O> = Text<
  ColumnShape<N, Narrowed<O, Values[T][0]> | IsNull<O>, Narrowed<O, Values[T][1]> | IsNull<O>, Has<O>>
>;

/** Text of a json column whose values a script has given a type. */
export type JsonColumnText<N extends string, V, O> = Text<ColumnShape<N, V | IsNull<O>, V | IsNull<O>, Has<O>>>;

export type DerivedColumnText<N extends string, T extends ColumnTypeName> = Text<
  ColumnShape<N, Values[T][0] | null, never, 'derived'>
>;
