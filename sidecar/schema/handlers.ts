import { ApiError } from '#protocol/errors.ts';
import { writeJson } from '#protocol/json.ts';
import { unknownProperties } from '#protocol/payload-reader.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import { MAIN_PART, schemaHash, schemaToJson, visibleSchema } from '#protocol/schema.ts';
import type { NonceClaim, SharedNonce } from '../engine/cluster/cluster-calls.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { declarationOf } from './parts.ts';
import { SchemaSync, type SyncOptions } from './sync.ts';

/** The part of a call that the handlers use. */
interface SchemaCall {
  /** `performance.now()` milliseconds. */
  readonly deadline: number;
}

interface DeclaringCall extends SchemaCall {
  /** Absent for the panel, which has no keys. */
  readonly kid?: string;
  readonly sharedNonce?: SharedNonce | null;
}

export interface SchemaOptions extends SyncOptions {
  /** For reading a schema; a sync has the time of its request. */
  readonly statementTimeoutMs: number;
  /** Hears of each namespace whose sync has ended well; the answer waits for it. */
  readonly onSynced: (namespace: string, call: SchemaCall) => Promise<void>;
}

/** The operations `schema.sync`, `schema.extend` and `schema.describe`; each gives the JSON text of its result. */
export function createSchemaHandlers(options: SchemaOptions) {
  const sync = new SchemaSync(options);
  const { engine, gate, statementTimeoutMs } = options;
  const claim = async (nonce: NonceClaim): Promise<void> => {
    const bounds = { deadline: performance.now() + statementTimeoutMs };
    if (!(await engine.cluster.claimNonce(nonce, bounds))) throw new ApiError('unauthorized', 'not authorized');
  };
  const declare = async (
    operation: 'schema.sync' | 'schema.extend',
    payload: PayloadOf<'schema.sync'>,
    part: string,
    { kid = '', deadline, sharedNonce }: DeclaringCall,
  ): Promise<string> => {
    const { namespace, schema, dryRun } = payload;
    // Before the change: an old declaration that is repeated at another sidecar would replace a newer one.
    if (sharedNonce && dryRun !== true) await claim({ ...sharedNonce, kid, namespace });
    const result = await sync.sync({ namespace, part, schema, dryRun: dryRun ?? false, deadline });
    await options.onSynced(namespace, { deadline });
    const warnings = [...unknownProperties(operation, payload), ...(result.warnings ?? [])];
    return JSON.stringify(warnings.length === 0 ? result : { ...result, warnings });
  };
  return {
    'schema.sync': (payload: PayloadOf<'schema.sync'>, call: DeclaringCall) =>
      declare('schema.sync', payload, MAIN_PART, call),
    async 'schema.extend'(payload: PayloadOf<'schema.extend'>, call: DeclaringCall) {
      if (payload.part === MAIN_PART) {
        throw new ApiError('invalid_request', `part: ${MAIN_PART} is the part that schema.sync declares`);
      }
      return declare('schema.extend', payload, payload.part, call);
    },
    async 'schema.describe'({ namespace, part }: PayloadOf<'schema.describe'>, { deadline }: SchemaCall) {
      const bounds = { deadline: Math.min(deadline, performance.now() + statementTimeoutMs) };
      const stored = await gate.run(namespace, () => engine.schemas.readSchema(namespace, bounds));
      return part === undefined ? describeText(namespace, stored) : describeText(namespace, partOf(stored, part));
    },
  };
}

type Described = Pick<StoredSchema, 'hash' | 'schema' | 'updatedAt'>;

/** Null if there is no such part. */
function partOf(stored: StoredSchema | null, part: string): Described | null {
  const schema = stored === null ? null : declarationOf(stored.schema, part);
  return stored === null || schema === null ? null : { schema, hash: schemaHash(schema), updatedAt: stored.updatedAt };
}

/** Before the first sync everything is null (the specification's "States and transitions"). */
function describeText(namespace: string, stored: Described | null): string {
  return writeJson({
    namespace,
    hash: stored?.hash ?? null,
    schema: stored === null ? null : schemaToJson(visibleSchema(stored.schema)),
    updatedAt: stored?.updatedAt ?? null,
  });
}
