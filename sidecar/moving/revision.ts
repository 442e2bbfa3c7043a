import { ApiError } from '#protocol/errors.ts';
import { type Schema, schemaHash } from '#protocol/schema.ts';
import type { Engine } from '../engine/engine.ts';
import { StaleSchemaError } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { checkScales } from '../schema/check-scales.ts';
import { planSchema } from '../schema/plan.ts';
import { changeBounds, patiently, statementBounds } from './patience.ts';

const MAX_ATTEMPTS = 5;

export function storedSchema(engine: Engine, namespace: string): Promise<StoredSchema | null> {
  return patiently(() => engine.schemas.readSchema(namespace, statementBounds()));
}

/**
 * Brings the stored schema to `wanted`; a part that is not in it is dropped with its rows. The revision grows in any
 * case, so that sidecars on the same database read the namespace again. The caller holds the namespace's lock.
 */
export function applyWhole(engine: Engine, namespace: string, wanted: Schema): Promise<StoredSchema> {
  return change(engine, namespace, () => wanted);
}

/** Only the revision grows. A change of the schema that was cut off is finished first. */
export function growRevision(engine: Engine, namespace: string): Promise<StoredSchema> {
  return change(engine, namespace, (from) => from?.schema ?? { tables: [] });
}

async function change(
  engine: Engine,
  namespace: string,
  wantedAfter: (from: StoredSchema | null) => Schema,
): Promise<StoredSchema> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const from = await storedSchema(engine, namespace);
    // A schema stored in the middle of a change is not the final one: the engine finishes the change first.
    const to = from?.isUnfinished === true ? from.schema : wantedAfter(from);
    checkScales(to, engine.capabilities);
    const { steps } = planSchema(from?.schema ?? null, to, { tables: new Map(), columns: new Map() }, 'drop');
    const planned = { namespace, from, to, hash: schemaHash(to), steps, dryRun: false, now: Date.now() };
    try {
      await engine.schemas.applySchema(planned, changeBounds());
      const stored = await storedSchema(engine, namespace);
      if (stored !== null && from?.isUnfinished !== true) return stored;
    } catch (error) {
      if (!(error instanceof StaleSchemaError)) throw error;
    }
  }
  throw new ApiError('conflict_retry', `others change the schema of namespace ${namespace} all the time`);
}
