import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';
import type { Encode } from '../model/page.ts';
import type { FilterWriter } from './filter.ts';
import type { SqlParam } from './session.ts';

export type { Encode } from '../model/page.ts';

/**
 * Differences between the SQL of PostgreSQL and MySQL for statements on declared tables; `sql/read.ts`, `change.ts` and
 * `batch.ts` write the rest. Text is written from left to right and parameters are added in the same order, so that `?`
 * serves as well as `$1`.
 */
export interface SqlDialect {
  /** Only for names that passed the naming rule, or that are made of such. */
  quoted(name: string): string;
  /**
   * Rows of a find arrive one by one (`Session.stream`), and the reader stops when the page is full. Without the flag, the
   * server measures the rows and leaves out those behind the end of the page.
   */
  readonly streamsRows: boolean;
  /**
   * End of a SELECT whose answer counts only once the replicas that the server waits for have the row: a lock, which makes it
   * commit. Empty if an answered commit can never be missing on a replica that takes over.
   */
  readonly confirmRowSql: string;
  /** Place of the parameter with this position, from 1: `$1`, `?`. */
  placeholder(position: number): string;

  /** The value as it travels; only for values that the column can hold, and texts of any length. */
  toParam(column: Column, value: Value): SqlParam;
  /** A place with the column's type, if the server does not know the type by itself; may be the place as it is. */
  typed(column: Column, place: string): string;
  /** The place of a value that a column is compared with or set to. */
  compared(column: Column, place: string): string;
  /** The column in a select list; `encoder` makes JSON of its values. */
  readSql(column: Column): string;
  encoder(column: Column): Encode;
  /** Bytes of the value in `name`, which may be long, without reading it; too few rather than too many. Null is null. */
  byteLengthSql(name: string): string;

  /** `name IN (…)` for 1 to 1000 values, unknown for NULL. */
  listSql(filter: Filter & { readonly kind: 'in' }, params: SqlParams): string;
  /** True if the text contains the part, by bytes; unknown for NULL. */
  containsSql(filter: Filter & { readonly kind: 'text' }, params: SqlParams): string;
  /** NULL first ascending and last descending (contract section 4). */
  orderSql(column: Column, dir: 'asc' | 'desc'): string;
  /** Sum of a number column: exact at any size, but for doubles. A sum that no double holds must fail, or be infinite. */
  sumSql(column: Column): string;
  /** The least or greatest value of a column that is not NULL, in the column's order. */
  extremeSql(fn: 'min' | 'max', column: Column): string;
  /** The column's value plus an amount as `parseAmount` gives it; NULL counts 0. Out of range must fail. */
  incSql(column: Column, amount: Value, params: SqlParams): string;
}

/** The parameters of one statement, in the order of its text. */
export class SqlParams implements FilterWriter {
  readonly values: SqlParam[] = [];
  /** `IN` conditions of the statement so far, the one that is being written included. */
  lists = 0;
  readonly #dialect: SqlDialect;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
  }

  /** Adds a parameter and gives its place. */
  add(param: SqlParam): string {
    return this.#dialect.placeholder(this.values.push(param));
  }

  /** Adds a value that the column is compared with or set to, and gives its place. */
  value(column: Column, value: Value): string {
    return this.#dialect.compared(column, this.add(this.#dialect.toParam(column, value)));
  }

  /** The same for a place whose type the server cannot know from the column beside it. */
  typed(column: Column, value: Value): string {
    return this.#dialect.typed(column, this.add(this.#dialect.toParam(column, value)));
  }

  quoted(name: string): string {
    return this.#dialect.quoted(name);
  }

  list(filter: Filter & { readonly kind: 'in' }): string {
    this.lists += 1;
    return this.#dialect.listSql(filter, this);
  }

  contains(filter: Filter & { readonly kind: 'text' }): string {
    return this.#dialect.containsSql(filter, this);
  }
}
