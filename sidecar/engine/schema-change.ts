import type { Schema } from '#protocol/schema.ts';
import type { PlanStep } from './plan-step.ts';
import type { StoredSchema } from './stored-schema.ts';

/** A planned change of one namespace, as the engine gets it. */
export interface SchemaChange {
  readonly namespace: string;
  readonly from: StoredSchema | null;
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
  /** What the owner should know of how it came back, in plain words. */
  readonly note: string | null;
}
