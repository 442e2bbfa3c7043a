import type { DescribedBy, ExactNumber, ResultReference } from './typed-text.ts';

/** A value as `Rows` gives it: integers past 2^53 are BigInt, decimals that no double holds are text. */
export type DbValue = null | boolean | number | bigint | string | DbValue[] | { [name: string]: DbValue };

/** A row as it comes when a script does not say more about it. */
export type DbRow = Record<string, DbValue>;

/** A column as its builder declared it: what is read, what may be written, and whether a new row must have it. */
export interface ColumnShape<
  N extends string = string,
  R = unknown,
  W = unknown,
  H = 'required' | 'optional' | 'derived',
> {
  readonly column: N;
  readonly read: R;
  readonly write: W;
  readonly has: H;
}

/** Columns by name. */
export type Columns = Readonly<Record<string, ColumnShape>>;

export interface TableShape<N extends string = string, C = Columns> {
  readonly table: N;
  readonly columns: C;
}

export interface SchemaShape<T> {
  readonly tables: T;
}

/** A schema for every namespace, or a schema for each: `Database<typeof SCHEMA>`, `Database<{ game: typeof SCHEMA }>`. */
export type Declared = string | object;

/** Tables if nothing was declared. */
type AnyTables = Readonly<Record<string, 'any'>>;

type TablesOfSchema<S> = [DescribedBy<S>] extends [never]
  ? AnyTables
  : DescribedBy<S> extends SchemaShape<infer T>
    ? T
    : AnyTables;

export type TablesOf<S, N> = S extends string
  ? TablesOfSchema<S>
  : N extends keyof S
    ? TablesOfSchema<S[N]>
    : AnyTables;

export type NamespaceOf<S> = S extends string ? string : keyof S & string;
export type TableOf<S, N> = keyof TablesOf<S, N> & string;

type ColumnsOf<S, N, T> = T extends keyof TablesOf<S, N> ? TablesOf<S, N>[T] : 'any';

type ReadRow<C> = C extends Columns ? { -readonly [K in keyof C]: C[K]['read'] } : DbRow;
type NamesOf<C, H> = { [K in keyof C]: C[K] extends { readonly has: H } ? K : never }[keyof C];

type NewRow<C> = C extends Columns
  ? { readonly [K in NamesOf<C, 'required'>]: C[K]['write'] | ResultReference } & {
      readonly [K in NamesOf<C, 'optional'>]?: C[K]['write'] | ResultReference | undefined;
    }
  : object;

type SetRow<C> = C extends Columns
  ? { readonly [K in NamesOf<C, 'required' | 'optional'>]?: C[K]['write'] | ResultReference | undefined }
  : object;

/** A row of a declared table as it is read: `RowOf<typeof SCHEMA, 'characters'>`. */
export type RowOf<S, T extends TableOf<S, string>> = ReadRow<ColumnsOf<S, string, T>>;
/** A row of a declared table as it is inserted: columns that fill themselves may be left out. */
export type NewRowOf<S, T extends TableOf<S, string>> = NewRow<ColumnsOf<S, string, T>>;

export type Read<S, N, T> = ReadRow<ColumnsOf<S, N, T>>;
export type Insertable<S, N, T> = NewRow<ColumnsOf<S, N, T>>;
export type Settable<S, N, T> = SetRow<ColumnsOf<S, N, T>>;

export type ColumnOf<R> = keyof R & string;
export type NumericColumnOf<R> = {
  [K in keyof R]: [Extract<R[K], number>] extends [never] ? never : K;
}[keyof R] &
  string;

/** Values with which a column that is read as `V` can be compared. */
export type Comparand<V> = V extends null
  ? null
  : V extends boolean
    ? boolean | ResultReference
    : V extends number | bigint
      ? number | bigint | ExactNumber | ResultReference
      : V extends string
        ? string extends V
          ? string | Date | Uint8Array | ResultReference
          : V | ResultReference
        : unknown;

/** A row of an `Aggregate`: the columns of its group, and the values by their names. */
export type AggregateRow<R, G, A extends string> = [G | A] extends [never]
  ? DbRow
  : Pick<R, G & keyof R> & { readonly [K in A]: number | bigint | string | boolean | null };

/** Properties that `FindWith` adds to a row. */
export type Related<A> = A extends readonly (infer E)[] ? UnionToIntersection<RelatedOne<E>> : RelatedOne<A>;

type RelatedOne<E> = E extends { readonly as: infer K extends string; readonly many: true }
  ? { [P in K]: DbRow[] }
  : E extends { readonly as: infer K extends string }
    ? { [P in K]: DbRow | null }
    : never;

type UnionToIntersection<U> = (U extends unknown ? (given: U) => void : never) extends (given: infer I) => void
  ? I
  : never;
