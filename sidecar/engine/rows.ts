import type { Column } from '#protocol/columns.ts';
import type { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { AggregateFunction } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import type { Value } from '#protocol/values.ts';

/** What bounds one call of the engine. Waiting and running together end by `deadline` with `database_timeout`. */
export interface CallBounds {
  /** `performance.now()` milliseconds. */
  readonly deadline: number;
}

/** A declared table, and the revision of the schema it was read from. */
export interface TableTarget {
  readonly namespace: string;
  readonly revision: number;
  readonly table: Table;
  /** Where the rows lie, if not in the declared table's own place: only for moving whole namespaces (`Transfer`). */
  readonly physical?: string;
}

export interface SortKey {
  readonly column: string;
  readonly dir: 'asc' | 'desc';
}

export interface FindQuery {
  readonly filter: Filter | null;
  readonly fields: readonly string[];
  /** Complete: the tie-breakers (primary key, or order of insertion) are added by the engine. */
  readonly sort: readonly SortKey[];
  readonly limit: number;
  readonly offset: number;
  /** A page ends before the row that would pass this many bytes of JSON; one row always fits. */
  readonly maxBytes: number;
}

export interface Page {
  /** JSON text of an array of row objects. */
  readonly rows: string;
  readonly hasMore: boolean;
}

/** What is made of the rows of a group (contract section 11). */
export interface AggregateValue {
  readonly as: string;
  readonly fn: AggregateFunction;
  /** Null where rows are counted. */
  readonly column: Column | null;
}

export interface AggregateQuery {
  readonly filter: Filter | null;
  /** None: all rows that match are one group, also where none does. */
  readonly groupBy: readonly Column[];
  readonly values: readonly AggregateValue[];
  /** Places in `outputsOf`. Complete: all group columns stand in it, so that no two groups are alike. */
  readonly sort: readonly { readonly output: number; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number;
  readonly offset: number;
  /** As in a find. */
  readonly maxBytes: number;
}

/** Column name to logical value. A column that the database is to generate is absent. */
export type Row = ReadonlyMap<string, Value>;

export type Write =
  | { readonly op: 'insert'; readonly rows: readonly Row[] }
  | {
      readonly op: 'update';
      readonly filter: Filter | null;
      readonly set: Row;
      /** Amounts to add as `parseAmount` gives them: for integers a bigint, for decimals digits; maybe out of range. */
      readonly inc: ReadonlyMap<string, Value>;
    }
  | {
      readonly op: 'upsert';
      /** The whole row as it is inserted: defaults filled in, and what `inc` adds is in it. */
      readonly row: Row;
      readonly keys: readonly string[];
      /** Columns that an existing row takes from `row`. */
      readonly update: readonly string[];
      /** What only an existing row takes, beside `update`: its values are not those of `row`. */
      readonly touch?: Row;
      /** What is added to columns of an existing row, as in an update. None of them stands in `update`. */
      readonly inc?: ReadonlyMap<string, Value>;
      /** An existing row is not touched, and does not count as affected. */
      readonly isInsertOnly?: boolean;
      /** Why `row` cannot be inserted where no row has the keys. */
      readonly insertFault?: ApiError;
    }
  | { readonly op: 'delete'; readonly filter: Filter | null };

/** Where a write's result is remembered, in the write's own transaction (contract section 5). */
export interface IdempotencySlot {
  readonly kid: string;
  readonly namespace: string;
  readonly key: string;
  /** SHA-256 of the operation and its canonical payload, hex. */
  readonly fingerprint: string;
  /** Epoch milliseconds; a record that expired by then counts as absent. */
  readonly now: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface RememberedResult {
  readonly fingerprint: string;
  /** JSON text of the first result. */
  readonly result: string;
  /** In place of a result: an insert failed and rows of it stayed (contract section 5). */
  readonly failure?: ApiError;
}

/** A statement was compiled for a schema that is no longer the stored one. Read the schema again and repeat. */
export class StaleSchemaError extends Error {
  readonly namespace: string;

  constructor(namespace: string) {
    super(`the schema of ${namespace} has changed`);
    this.name = 'StaleSchemaError';
    this.namespace = namespace;
  }
}
