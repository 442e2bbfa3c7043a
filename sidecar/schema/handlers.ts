import { writeJson } from '../../db_connector/protocol/json.ts';
import { type PayloadOf, unknownProperties } from '../../db_connector/protocol/payloads.ts';
import { schemaToJson } from '../../db_connector/protocol/schema.ts';
import type { StoredSchema } from '../engine/engine.ts';
import { SchemaSync, type SyncOptions } from './sync.ts';

/** What the handlers need to know of a call. */
interface SchemaCall {
  /** `performance.now()` milliseconds. */
  readonly deadline: number;
}

export interface SchemaOptions extends SyncOptions {
  /** For reading a schema; a sync has the time of its request. */
  readonly statementTimeoutMs: number;
  /** Hears of each namespace whose sync has ended well; the answer waits for it. */
  readonly onSynced: (namespace: string, call: SchemaCall) => Promise<void>;
}

/** The operations `schema.sync` and `schema.describe`; each gives the JSON text of its result. */
export function createSchemaHandlers(options: SchemaOptions) {
  const sync = new SchemaSync(options);
  const { engine, gate, statementTimeoutMs } = options;
  return {
    async 'schema.sync'(payload: PayloadOf<'schema.sync'>, { deadline }: SchemaCall) {
      const { namespace, schema, dryRun } = payload;
      const result = await sync.sync({ namespace, schema, dryRun: dryRun ?? false, deadline });
      await options.onSynced(namespace, { deadline });
      const warnings = [...unknownProperties('schema.sync', payload), ...(result.warnings ?? [])];
      return JSON.stringify(warnings.length === 0 ? result : { ...result, warnings });
    },
    async 'schema.describe'({ namespace }: PayloadOf<'schema.describe'>, { deadline }: SchemaCall) {
      const bounds = { deadline: Math.min(deadline, performance.now() + statementTimeoutMs) };
      return describeText(namespace, await gate.run(namespace, () => engine.schemas.readSchema(namespace, bounds)));
    },
  };
}

/** Before the first sync everything is null (the specification's "States and transitions"). */
function describeText(namespace: string, stored: StoredSchema | null): string {
  return writeJson({
    namespace,
    hash: stored?.hash ?? null,
    schema: stored === null ? null : schemaToJson(stored.schema),
    updatedAt: stored?.updatedAt ?? null,
  });
}
