import type { Engine } from '../engine/engine.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { MoveReport } from './report.ts';

export interface CopyEngines {
  readonly from: Engine;
  readonly to: Engine;
}

/** One namespace on its way. */
export interface CopyWork {
  readonly engines: CopyEngines;
  /** Both with the same tables. */
  readonly stored: { readonly from: StoredSchema; readonly to: StoredSchema };
  readonly report: MoveReport;
  /** Ends the work between two pages. */
  readonly signal: AbortSignal;
}
