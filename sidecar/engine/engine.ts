import type { ApiError } from '../../db_connector/protocol/errors.ts';
import type { Filter } from '../../db_connector/protocol/filter.ts';
import type { Schema, Table } from '../../db_connector/protocol/schema.ts';
import type { Value } from '../../db_connector/protocol/values.ts';
import type { AggregateQuery } from './aggregate.ts';
import type { Batch } from './batch.ts';
import type { QueueCalls } from './queues.ts';
import type { QuarantinedObject, RestoredObject, SchemaChange } from './schema-change.ts';
import type { TableSize } from './table-size.ts';
import type { Transfer } from './transfer.ts';

/** What engines do differently. Shared code reads these flags, never a provider's name. */
export interface Capabilities {
  /** Schema changes and data changes share one transaction: a sync that dies leaves nothing half done. */
  readonly transactionalSchema: boolean;
  /** Several writes of one request succeed or fail together. */
  readonly transactions: boolean;
  /** `json` columns may stand in a filter. */
  readonly filterableJson: boolean;
  /** Can be opened as it is at one moment (`EngineOptions.snapshot`); without it who reads all of it holds writes back. */
  readonly snapshots: boolean;
}

/** The declared schema of a namespace as the database remembers it. */
export interface StoredSchema {
  readonly namespace: string;
  /** Grows by one with every change of the physical schema; a statement compiled for another revision is refused. */
  readonly revision: number;
  readonly hash: string;
  readonly schema: Schema;
  /** ISO 8601 UTC with milliseconds. */
  readonly updatedAt: string;
  /**
   * The tables are on their way to another schema: a change runs in another process, or was cut off and is finished by
   * the next sync, whatever that declares. Only without `transactionalSchema`.
   */
  readonly isUnfinished?: boolean;
}

export type LogLevel = 'info' | 'warn' | 'error';

/** Takes what the owner should read: what happened, to which file, what to do. Never values of rows. */
export type EngineLog = (level: LogLevel, message: string, fields: Readonly<Record<string, string | number>>) => void;

/** What an engine is opened with. */
export interface EngineOptions {
  readonly log: EngineLog;
  /** Epoch milliseconds; by it idempotency records expire. */
  readonly now: () => number;
  /** How often expired idempotency records are removed; default 30 s. */
  readonly purgeIntervalMs?: number;
  /**
   * Only with the capability `snapshots`: everything is read as it is at the moment of opening, whatever others write
   * meanwhile, and nothing can be written. An embedded engine lays a copy of its file into `folder`.
   */
  readonly snapshot?: { readonly folder: string };
}

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

export interface DatabaseFacts {
  /** Of the server or library, in its own words. */
  readonly version: string;
  /** By its clock, epoch milliseconds; null where it has none but this machine's. */
  readonly time: number | null;
}

/** Figures for /metrics and health. */
export interface EngineStats {
  readonly waitingReads: number;
  readonly runningReads: number;
  readonly waitingWrites: number;
  readonly commits: number;
  readonly committedWrites: number;
  readonly timeouts: number;
}

/**
 * One database below the API. All failures are `ApiError` with a code of the table, or `StaleSchemaError`;
 * details that a caller may not see go to the log that `openEngine` was given.
 */
export interface Engine {
  readonly provider: 'sqlite' | 'postgres' | 'mysql' | 'mongodb';
  readonly capabilities: Capabilities;

  /** Resolves when the database answers; rejects with `database_error` or `database_timeout`. */
  ping(bounds: CallBounds): Promise<void>;
  /** What the database says of itself; for the owner. */
  inspect(bounds: CallBounds): Promise<DatabaseFacts>;
  /** Of declared tables, in their order; quick, also where they are large. */
  tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]>;
  close(): Promise<void>;
  stats(): EngineStats;

  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Promise<Page>;
  count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number>;
  /** @throws ApiError `invalid_value` for a sum of float64 that no double holds; all other sums are exact */
  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page>;
  /**
   * Result as JSON text, `{"inserted","ids"}` or `{"affected"}`; durable when this resolves. With a slot that is taken
   * nothing is written: the remembered result, or `idempotency_conflict` for another fingerprint.
   */
  write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string>;
  /**
   * Several writes, in order; durable when it resolves. JSON text of `{"results":[…]}`: what `write` gives for each, in a
   * batch that is not atomic also `{"error":{"code","message"}}`. With `transactions` they are one transaction, also where
   * each is for itself. Without it there are no atomic batches, and a failure that may pass ends the call: operations
   * before its index are done, and the same call with its slot goes on where it ended.
   * @throws ApiError with the index of the operation that failed
   */
  batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string>;
  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    bounds: CallBounds,
  ): Promise<RememberedResult | null>;

  readonly schemas: SchemaCalls;
  /** For write-behind. */
  readonly queues: QueueCalls;
  /** For `copy` and `import`. */
  readonly transfer: Transfer;
}

/** The part of an engine that is about schemas and what they have left behind. */
export interface SchemaCalls {
  readSchema(namespace: string, bounds: CallBounds): Promise<StoredSchema | null>;
  /**
   * Checks that every row fits, then applies the plan and stores the schema; a dry run only checks. Where an earlier
   * change was cut off it is finished first, and then `StaleSchemaError`; a dry run is `sync_in_progress` there.
   */
  applySchema(change: SchemaChange, bounds: CallBounds): Promise<void>;
  /** False where another sidecar holds the lock. Its own old lock, and one not renewed for 10 s, is taken over. */
  lockNamespace(namespace: string, owner: string, now: number, bounds: CallBounds): Promise<boolean>;
  unlockNamespace(namespace: string, owner: string, bounds: CallBounds): Promise<void>;

  listQuarantine(namespace: string | null, bounds: CallBounds): Promise<QuarantinedObject[]>;
  /** `now` in epoch milliseconds. Throws `unsupported_change` with the reason where the object has no place any more. */
  restoreQuarantine(id: number, now: number, bounds: CallBounds): Promise<RestoredObject>;
  purgeQuarantine(id: number, bounds: CallBounds): Promise<QuarantinedObject>;
}
