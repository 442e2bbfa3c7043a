import type { Filter } from '#protocol/filter.ts';
import type { Batch } from './batch.ts';
import type { ClusterCalls } from './cluster/cluster-calls.ts';
import type { Leases } from './cluster/leases.ts';
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

/** Differences between engines. Shared code reads these flags, never the name of a provider. */
export interface Capabilities {
  /**
   * A schema changes in one transaction (`sql/schema/apply.ts`): a sync that dies leaves the old schema. Without it a sync
   * stores its pending change first, and the next sidecar finishes what was cut off (`StoredSchema.isUnfinished`).
   */
  readonly transactionalSchema: boolean;
  /** Several writes of one request succeed or fail together. */
  readonly transactions: boolean;
  /** A filter may name `json` columns. */
  readonly filterableJson: boolean;
  /**
   * The database can be opened as it is at one moment (`EngineOptions.snapshot`). Without it, reading all of it holds
   * writes back.
   */
  readonly snapshots: boolean;
  /** Digits after the point that a `decimal` may have. Known once the database has answered. */
  readonly maxDecimalScale: number;
}

/** Options of an open engine. */
export interface EngineOptions {
  readonly log: EngineLog;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Epoch milliseconds by which idempotency records expire; default `now`. */
  readonly expiryNow?: () => number;
  /** Milliseconds that never go back, for the leases of others; default `performance.now`. */
  readonly monotonicNow?: () => number;
  /** Id of the sidecar, which owns its leases; default a random one, for a command. */
  readonly instance?: () => string;
  /** Interval of removing expired idempotency records; default 30 s. */
  readonly purgeIntervalMs?: number;
  /**
   * Only with the capability `snapshots`: every read sees the moment of opening, whatever others write meanwhile, and
   * nothing can be written. An embedded engine copies its file into `folder`.
   */
  readonly snapshot?: { readonly folder: string };
}

export interface DatabaseFacts {
  /** Version of the server or library, in its own words. */
  readonly version: string;
  /** Its clock in epoch milliseconds; null if it has no clock but this machine's. */
  readonly time: number | null;
}

/**
 * Reason why a database that answers takes no writes: it follows another server (`standby`), it was set so
 * (`readOnly`), it is a node of a cluster that is not a working part of it now (`notReady`), or each write waits for a
 * synchronous standby that is away (`noStandby`).
 */
export type WriteObstacle = 'standby' | 'readOnly' | 'notReady' | 'noStandby';

/** Host of a database server that calls go to. */
export interface HostInUse {
  /** As the URL names it, without account and password. */
  readonly host: string;
  /** First host of the URL, as long as another one is used; null also if the database chooses among its hosts itself. */
  readonly insteadOf: string | null;
  /** The database has more hosts than this one. */
  readonly hasOthers: boolean;
}

/** Figures for /metrics and health. */
export interface EngineStats {
  readonly waitingReads: number;
  readonly runningReads: number;
  readonly waitingWrites: number;
  readonly commits: number;
  readonly committedWrites: number;
  readonly timeouts: number;
  /** Finds answered on the API's thread (SQLite). */
  readonly spotReads: number;
}

/**
 * A database below the API. All failures are `ApiError` with a code of the table, or `StaleSchemaError`. Details that a
 * caller may not see go to the log that `openEngine` received.
 */
export interface Engine {
  readonly provider: 'sqlite' | 'postgres' | 'mysql' | 'mongodb';
  readonly capabilities: Capabilities;

  /**
   * Resolves when the database answers, with the reason why it takes no writes, or null if it takes them; rejects with
   * `database_error` or `database_timeout`.
   */
  ping(bounds: CallBounds): Promise<WriteObstacle | null>;
  /** Null for an embedded database, and before the first connection of one that chooses among its hosts itself. */
  hostInUse(): HostInUse | null;
  /** Facts about the database, for the owner. */
  inspect(bounds: CallBounds): Promise<DatabaseFacts>;
  /** Sizes of declared tables, in their order. Quick, also for large tables. */
  tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]>;
  close(): Promise<void>;
  stats(): EngineStats;

  /** The page itself if the engine has read it on the spot. */
  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Page | Promise<Page>;
  count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number>;
  /** @throws ApiError `invalid_value` for a sum of float64 that no double holds; all other sums are exact */
  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page>;
  /**
   * Resolves with the result as JSON text, `{"inserted","ids"}` or `{"affected"}`, when it is durable. If the slot is
   * taken nothing is written: resolves with the remembered result, or rejects with `idempotency_conflict` for another
   * fingerprint.
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
  /** Rows about the sidecars of the database. */
  readonly cluster: ClusterCalls;
  /** Leases of this process. A change of a schema holds the lease of its namespace. */
  readonly leases: Leases;
}

/** Size of a table, as far as the database knows it without reading all rows. Null if it does not know in time. */
export interface TableSize {
  /** Declared name. */
  readonly table: string;
  readonly rows: number | null;
  /** An estimate of the database, which may be old. */
  readonly isEstimate: boolean;
  /** Bytes of the table with its indexes. */
  readonly bytes: number | null;
}

export function unknownSize(table: string): TableSize {
  return { table, rows: null, isEstimate: false, bytes: null };
}
