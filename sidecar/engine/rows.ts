import type { Column } from '#protocol/columns.ts';
import type { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { AggregateFunction } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import type { Value } from '#protocol/values.ts';

/** Caller of the sidecar's own work. */
export const OWN_CALLS = '';

/** Time limit of one call of the engine. Waiting and running together end by `deadline` with `database_timeout`. */
export interface CallBounds {
  /** `performance.now()` milliseconds. */
  readonly deadline: number;
  /** Id of the key; callers share the database by turns. Default: `OWN_CALLS`. */
  readonly caller?: string;
}

/** A declared table, and the revision of the schema it was read from. */
export interface TableTarget {
  readonly namespace: string;
  readonly revision: number;
  readonly table: Table;
  /**
   * Table or collection of the rows, if it is not the declared table's own: only for moving whole namespaces
   * (`Transfer`).
   */
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

/** A value computed from the rows of a group (contract section 11). */
export interface AggregateValue {
  readonly as: string;
  readonly fn: AggregateFunction;
  /** Null if rows are counted. */
  readonly column: Column | null;
}

export interface AggregateQuery {
  readonly filter: Filter | null;
  /** Empty: all rows that match are one group, also if no row matches. */
  readonly groupBy: readonly Column[];
  readonly values: readonly AggregateValue[];
  /** Indexes of `outputsOf`. Complete: it holds all columns of the group, so that no two groups are equal. */
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
      /**
       * Amounts to add, as `parseAmount` returns them: a bigint for integers, digits for decimals; maybe out of range.
       */
      readonly inc: ReadonlyMap<string, Value>;
    }
  | {
      readonly op: 'upsert';
      /** The whole row to insert, with defaults, and with the amounts of `inc` in it. */
      readonly row: Row;
      readonly keys: readonly string[];
      /** Columns that an existing row copies from `row`. */
      readonly update: readonly string[];
      /** Values for an existing row alone, beside `update`; they differ from those of `row`. */
      readonly touch?: Row;
      /** Amounts to add to columns of an existing row, as in an update. None of the columns is in `update`. */
      readonly inc?: ReadonlyMap<string, Value>;
      /** An existing row is not touched, and does not count as affected. */
      readonly isInsertOnly?: boolean;
      /** Error of an insert of `row`: thrown if no row has the keys. */
      readonly insertFault?: ApiError;
    }
  | { readonly op: 'delete'; readonly filter: Filter | null };

/** Record of a write's result, made in the write's own transaction (contract section 5). */
export interface IdempotencySlot {
  readonly kid: string;
  readonly namespace: string;
  readonly key: string;
  /** SHA-256 of the operation and its canonical payload, hex. */
  readonly fingerprint: string;
  /** Epoch milliseconds by the clock furthest behind; a record that has expired at this time counts as absent. */
  readonly now: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface RememberedResult {
  readonly fingerprint: string;
  /** JSON text of the first result. */
  readonly result: string;
  /** Instead of a result: an insert failed after some rows, which stay (contract section 5). */
  readonly failure?: ApiError;
}

/** A statement was compiled for a schema that is no longer stored. Read the schema again and repeat. */
export class StaleSchemaError extends Error {
  readonly namespace: string;

  constructor(namespace: string) {
    super(`the schema of ${namespace} has changed`);
    this.name = 'StaleSchemaError';
    this.namespace = namespace;
  }
}
