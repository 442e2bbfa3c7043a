import type { Schema } from '#protocol/schema.ts';

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
