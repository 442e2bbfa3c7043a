import { schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { SchemaCalls, SchemaChange } from '#engine/schema-calls.ts';
import { type Writable, writeJson } from '#protocol/json.ts';
import type { RunJob } from '../worker/jobs.ts';
import type { SchemaJobName, SchemaJobTypes, SentChange } from './jobs.ts';

export function createSchemaCalls(runJob: RunJob): SchemaCalls {
  const run = async <Name extends SchemaJobName>(
    name: Name,
    input: SchemaJobTypes[Name]['input'],
    bounds: { readonly deadline: number },
  ): Promise<SchemaJobTypes[Name]['output']> => (await runJob(name, input, bounds)) as SchemaJobTypes[Name]['output'];
  return {
    async readSchema(namespace, bounds) {
      const row = await run('schema.read', { namespace }, bounds);
      return row === null ? null : { ...row, schema: schemaOfText(row.schema) };
    },
    async applySchema(change, bounds) {
      await run(change.dryRun ? 'schema.check' : 'schema.apply', sent(change), bounds);
    },
    lockNamespace: (namespace, owner, now, bounds) => run('schema.lock', { namespace, owner, now }, bounds),
    async unlockNamespace(namespace, owner, bounds) {
      await run('schema.unlock', { namespace, owner }, bounds);
    },
    listQuarantine: (namespace, bounds) => run('schema.listQuarantine', { namespace }, bounds),
    restoreQuarantine: (id, now, bounds) => run('schema.restoreQuarantine', { id, now }, bounds),
    purgeQuarantine: (id, bounds) => run('schema.purgeQuarantine', { id }, bounds),
  };
}

function sent({ namespace, from, to, hash, steps, now }: SchemaChange): SentChange {
  const stepsText = writeJson(steps as unknown as Writable);
  return { namespace, fromRevision: from?.revision ?? null, to: textOfSchema(to), hash, steps: stepsText, now };
}
