import type { SchemaCalls } from '../engine.ts';
import type { QuarantinedObject, RestoredObject } from '../schema-change.ts';
import { applySchema, checkSchema, prepared } from './schema-apply.ts';
import type { RunSchemaWork, SchemaDocument, SchemaWork } from './schema-collections.ts';
import type { Others } from './schema-lease.ts';
import { lockNamespace, unlockNamespace } from './schema-locks.ts';
import { finishPending, runPending } from './schema-pending.ts';
import { textOfRestore } from './schema-plan.ts';
import { listQuarantine, objectOf, purgeObject, quarantineDocument } from './schema-quarantine.ts';
import { checkRestorable } from './schema-restore.ts';
import { readDocument, readSchema, storedSchema } from './schema-store.ts';

export type { SchemaCalls } from '../engine.ts';

export function createSchemaCalls(run: RunSchemaWork, others: Others): SchemaCalls {
  return {
    readSchema: (namespace, bounds) => run(bounds, (work) => readSchema(work, namespace)),
    applySchema: (change, bounds) =>
      run(bounds, (work) => (change.dryRun ? checkSchema(work, change) : applySchema(work, others, change))),
    lockNamespace: (namespace, owner, now, bounds) => run(bounds, (work) => lockNamespace(work, namespace, owner, now)),
    unlockNamespace: (namespace, owner, bounds) => run(bounds, (work) => unlockNamespace(work, namespace, owner)),
    listQuarantine: (namespace, bounds) => run(bounds, (work) => listQuarantine(work, namespace)),
    restoreQuarantine: (id, now, bounds) => run(bounds, (work) => restoreQuarantine(work, others, id, now)),
    purgeQuarantine: (id, bounds) => run(bounds, (work) => purgeQuarantine(work, others, id)),
  };
}

async function restoreQuarantine(work: SchemaWork, others: Others, id: number, now: number): Promise<RestoredObject> {
  const { namespace } = await quarantineDocument(work, id);
  const stored = await finished(work, others, namespace);
  // A change that was finished may have moved it.
  const document = await quarantineDocument(work, id);
  const from = storedSchema(stored);
  await checkRestorable(work, document, from);
  const pending = await prepared(work, others, namespace, stored?.revision ?? null, () =>
    Promise.resolve({ kind: 'restore', plan: textOfRestore({ document, now }) }),
  );
  const { note } = await runPending(work, namespace, from, pending);
  return { ...objectOf(document), note };
}

async function purgeQuarantine(work: SchemaWork, others: Others, id: number): Promise<QuarantinedObject> {
  const { namespace } = await quarantineDocument(work, id);
  await finished(work, others, namespace);
  const document = await quarantineDocument(work, id);
  await purgeObject(work, id);
  return objectOf(document);
}

/** The namespace with no change pending. */
async function finished(work: SchemaWork, others: Others, namespace: string): Promise<SchemaDocument | null> {
  const document = await readDocument(work, namespace);
  if (document?.pending === undefined) return document;
  await finishPending(work, others, document, document.pending);
  return readDocument(work, namespace);
}
