import type { Filter } from '#protocol/filter.ts';
import type { Batch } from './batch.ts';
import type { EngineLog } from './log.ts';
import type { QueueCalls } from './queues.ts';
import type {
  AggregateQuery,
  CallBounds,
  FindQuery,
  IdempotencySlot,
  Page,
  RememberedResult,
  TableTarget,
  Write,
} from './rows.ts';
import type { SchemaCalls } from './schema-calls.ts';
import type { Transfer } from './transfer.ts';

/** What engines do differently. Shared code reads these flags, never a provider's name. */
export interface Capabilities {
  /**
   * A schema changes in one transaction (`sql/schema/apply.ts`): a sync that dies leaves the old schema. Without it a sync
   * stores its pending change first, and the next sidecar finishes what was cut off (`StoredSchema.isUnfinished`).
   */
  readonly transactionalSchema: boolean;
  /** Several writes of one request succeed or fail together. */
  readonly transactions: boolean;
  /** `json` columns may stand in a filter. */
  readonly filterableJson: boolean;
  /** Can be opened as it is at one moment (`EngineOptions.snapshot`); without it who reads all of it holds writes back. */
  readonly snapshots: boolean;
}

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

/** How large a table is, as far as the database can tell without reading all of it. Null is what it does not tell in time. */
export interface TableSize {
  /** Declared name. */
  readonly table: string;
  readonly rows: number | null;
  /** The database's own estimate, which may be old. */
  readonly isEstimate: boolean;
  /** With its indexes. */
  readonly bytes: number | null;
}

export function unknownSize(table: string): TableSize {
  return { table, rows: null, isEstimate: false, bytes: null };
}
