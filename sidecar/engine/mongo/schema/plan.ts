import { schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { PlanStep } from '#engine/schema-calls.ts';
import { parseJson, type Writable, writeJson } from '#protocol/json.ts';
import type { Schema } from '#protocol/schema.ts';
import type { QuarantineDocument } from './collections.ts';

/** All that is needed to do a planned change of a schema, or to finish it. */
export interface SyncPlan {
  readonly namespace: string;
  readonly to: Schema;
  readonly steps: readonly PlanStep[];
  /** The first of the ids reserved for what goes into quarantine, in the order of the steps. */
  readonly firstId: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The same for a kept object that comes back. */
export interface RestorePlan {
  readonly document: QuarantineDocument;
  /** Epoch milliseconds. */
  readonly now: number;
}

export function isKeeping(step: PlanStep): boolean {
  return step.kind === 'quarantineColumn' || step.kind === 'quarantineTable';
}

export function textOfPlan({ to, steps, ...rest }: SyncPlan): string {
  return writeJson({ ...rest, to: textOfSchema(to), steps: steps as unknown as Writable });
}

/** Of a text that this program has written from the very types that it is read as. */
export function planOfText(text: string): SyncPlan {
  const { to, ...rest } = parseJson(text) as unknown as Omit<SyncPlan, 'to'> & { readonly to: string };
  return { ...rest, to: schemaOfText(to) };
}

export function textOfRestore(plan: RestorePlan): string {
  return JSON.stringify(plan);
}

export function restoreOfText(text: string): RestorePlan {
  return JSON.parse(text) as RestorePlan;
}
