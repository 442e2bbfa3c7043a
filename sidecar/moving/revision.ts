import { ApiError } from '../../db_connector/protocol/errors.ts';
import { type Schema, schemaHash } from '../../db_connector/protocol/schema.ts';
import { type Engine, StaleSchemaError, type StoredSchema } from '../engine/engine.ts';
import { planSchema } from '../schema/plan.ts';
import { changeBounds, patiently, statementBounds } from './patience.ts';

const MAX_ATTEMPTS = 5;

export function storedSchema(engine: Engine, namespace: string): Promise<StoredSchema | null> {
  return patiently(() => engine.readSchema(namespace, statementBounds()));
}

/**
 * Brings the stored schema to `wanted`; what is not in it is dropped with its rows. The revision grows in any case, so
 * that sidecars which run on the database look at the namespace anew. For whoever holds the namespace's lock.
 */
export async function applyWhole(engine: Engine, namespace: string, wanted: Schema): Promise<StoredSchema> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const from = await storedSchema(engine, namespace);
    const { steps } = planSchema(from?.schema ?? null, wanted, { tables: new Map(), columns: new Map() }, 'drop');
    const change = { namespace, from, to: wanted, hash: schemaHash(wanted), steps, dryRun: false, now: Date.now() };
    try {
      await engine.applySchema(change, changeBounds());
      const stored = await storedSchema(engine, namespace);
      if (stored !== null) return stored;
    } catch (error) {
      // A change that was cut off is finished first, and the schema is another then.
      if (!(error instanceof StaleSchemaError)) throw error;
    }
  }
  throw new ApiError('conflict_retry', `others change the schema of namespace ${namespace} all the time`);
}
