import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '#protocol/errors.ts';
import { writeJson } from '#protocol/json.ts';
import { type Renames, type Schema, schemaHash, schemaToJson } from '#protocol/schema.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import type { CallBounds } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { DerivedStages } from './derived-stages.ts';
import { clearFillMark, fillDerived } from './fill-derived.ts';
import { planSchema, type RemovedMode } from './plan.ts';

export interface DerivedChange {
  readonly engine: Engine;
  readonly namespace: string;
  readonly removed: RemovedMode;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
  readonly bounds: () => CallBounds;
  /** Holds operations back, those under way and the queued ones ended. */
  readonly close: () => Promise<void>;
  /** Lets them go on. */
  readonly open: () => void;
}

const NO_RENAMES: Renames = { tables: new Map(), columns: new Map() };
/** Between attempts: a server that restarts is back within their sum. */
const PAUSES_MS = [250, 1000, 4000, 10_000];
const PASSING: readonly string[] = ['database_error', 'database_timeout', 'conflict_retry'];
const ROWS_BETWEEN_LINES = 100_000;

/**
 * Brings a namespace to a declared schema whose derived columns have rows to fill (contract section 11): the columns are
 * added, kept by every write and seen by nobody; the rows are filled while the game goes on; then the columns become what
 * they are declared to be. A crash leaves one of these states, from which the next sync goes on. Operations are held back
 * at the end, as after every change.
 */
export async function applyDerived(
  change: DerivedChange,
  stored: StoredSchema,
  declared: Schema,
  { before, filling, isResumed }: DerivedStages,
  renames: Renames,
): Promise<void> {
  const { engine, namespace, close, open, bounds } = change;
  await close();
  const ready = isSame(stored.schema, before) ? stored : await changed(change, stored, before, renames);
  if (!isResumed) await clearFillMark(engine.transfer, namespace, bounds());
  // Also where nothing is new: what an earlier run has still under way is refused by its revision.
  let current = await changed(change, ready, filling);
  open();
  current = await filled(change, current, filling);
  await close();
  await changed(change, current, declared);
  await clearFillMark(engine.transfer, namespace, bounds());
}

async function changed(
  { engine, namespace, removed, now, bounds }: DerivedChange,
  from: StoredSchema,
  to: Schema,
  renames = NO_RENAMES,
): Promise<StoredSchema> {
  const { steps } = planSchema(from.schema, to, renames, removed);
  const hash = schemaHash(to);
  await engine.schemas.applySchema({ namespace, from, to, hash, steps, dryRun: false, now: now() }, bounds());
  const stored = await engine.schemas.readSchema(namespace, bounds());
  if (stored === null) throw new Error(`the schema of namespace ${namespace} has gone`);
  return stored;
}

/** Continues under a new revision after a failure that may pass: a write with an unknown outcome must not arrive late. */
async function filled(change: DerivedChange, from: StoredSchema, filling: Schema): Promise<StoredSchema> {
  const { engine, namespace, log } = change;
  const startedAt = performance.now();
  let lastLine = 0;
  log('info', 'derived columns are being filled; the game goes on meanwhile', { namespace });
  const onRows = (rows: number): void => {
    if (rows - lastLine < ROWS_BETWEEN_LINES) return;
    lastLine = rows;
    log('info', 'derived columns are being filled', { namespace, rows });
  };
  let current = from;
  for (let attempt = 0; ; attempt += 1) {
    try {
      if (attempt > 0) current = await changed(change, current, filling);
      const rows = await fillDerived(engine, current, onRows);
      log('info', 'derived columns filled', { namespace, rows, ms: Math.round(performance.now() - startedAt) });
      return current;
    } catch (error) {
      const pauseMs = PAUSES_MS[attempt];
      if (pauseMs === undefined || !(error instanceof ApiError) || !PASSING.includes(error.code)) throw error;
      // A sidecar that stops meanwhile does not wait for it: the next sync goes on.
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}

function isSame(a: Schema, b: Schema): boolean {
  return writeJson(schemaToJson(a)) === writeJson(schemaToJson(b));
}
