import type { CallBounds } from './rows.ts';
import type { QuarantinedObject, RestoredObject, SchemaChange } from './schema-change.ts';
import type { StoredSchema } from './stored-schema.ts';

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
