import type { Column, Index, Schema, Table } from '#protocol/schema.ts';
import { type CallBounds, StaleSchemaError } from './rows.ts';

/** Calls about schemas and about what they have put into quarantine. */
export interface SchemaCalls {
  readSchema(namespace: string, bounds: CallBounds): Promise<StoredSchema | null>;
  /**
   * Checks that every row fits, then applies the plan and stores the schema; a dry run only checks. If an earlier
   * change was cut off it is finished first, and then rejects with `StaleSchemaError`; a dry run rejects with
   * `sync_in_progress`.
   */
  applySchema(change: SchemaChange, bounds: CallBounds): Promise<void>;

  listQuarantine(namespace: string | null, bounds: CallBounds): Promise<QuarantinedObject[]>;
  /**
   * `now` in epoch milliseconds. @throws ApiError `unsupported_change` with the reason if the object has no place any
   * more
   */
  restoreQuarantine(id: number, now: number, bounds: CallBounds): Promise<RestoredObject>;
  purgeQuarantine(id: number, bounds: CallBounds): Promise<QuarantinedObject>;
}

/** A planned change of a namespace. */
export interface SchemaChange {
  readonly namespace: string;
  /** Revision of the stored schema that the plan starts from; null before the first sync. */
  readonly from: Pick<StoredSchema, 'revision'> | null;
  readonly to: Schema;
  readonly hash: string;
  readonly steps: readonly PlanStep[];
  /** Only check that the rows fit. */
  readonly dryRun: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A table or column that was taken out of a schema and kept. */
export interface QuarantinedObject {
  readonly id: number;
  readonly namespace: string;
  readonly kind: 'table' | 'column';
  readonly table: string;
  readonly column: string | null;
  readonly rows: number;
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
}

export interface RestoredObject extends QuarantinedObject {
  /** Hint for the owner about how it came back, in plain words. */
  readonly note: string | null;
}

/**
 * A step from the stored schema to the declared one, with all that an engine needs to do it. A plan lists steps in the
 * order of doing them.
 */
export type PlanStep =
  | { readonly kind: 'createTable'; readonly table: Table }
  | { readonly kind: 'renameTable'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'dropTable' | 'quarantineTable';
      readonly table: Table;
      /** Part that declared it; absent for the main part. */
      readonly part?: string;
    }
  | { readonly kind: 'addColumn'; readonly table: string; readonly column: Column }
  | { readonly kind: 'renameColumn'; readonly table: string; readonly from: string; readonly to: string }
  | { readonly kind: 'alterColumn'; readonly table: string; readonly from: Column; readonly to: Column }
  | {
      readonly kind: 'dropColumn' | 'quarantineColumn';
      readonly table: string;
      readonly column: Column;
      /** As for a table. */
      readonly part?: string;
    }
  | {
      readonly kind: 'changePrimaryKey';
      readonly table: string;
      readonly from: readonly string[] | null;
      readonly to: readonly string[] | null;
    }
  | { readonly kind: 'addIndex' | 'dropIndex'; readonly table: string; readonly index: Index };

/** The declared schema of a namespace, as the database stores it. */
export interface StoredSchema {
  readonly namespace: string;
  /** Grows by one with every change of the physical schema. A statement compiled for another revision is refused. */
  readonly revision: number;
  readonly hash: string;
  readonly schema: Schema;
  /** ISO 8601 UTC with milliseconds. */
  readonly updatedAt: string;
  /**
   * The tables are between two schemas: a change runs in another process, or was cut off and is finished by the next
   * sync, whatever that declares. Only without `transactionalSchema`.
   */
  readonly isUnfinished?: boolean;
}

/** `StaleSchemaError` if the stored schema is another than the change starts from. */
export function checkRevision({ namespace, from }: SchemaChange, stored: StoredSchema | null): void {
  if ((stored?.revision ?? null) !== (from?.revision ?? null)) throw new StaleSchemaError(namespace);
}
