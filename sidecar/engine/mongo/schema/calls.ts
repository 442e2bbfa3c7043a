import type { QuarantinedObject, RestoredObject, SchemaCalls } from '#engine/schema-calls.ts';
import { failureOf } from '../failures.ts';
import { applySchema, checkSchema, prepared } from './apply.ts';
import type { Others, RunSchemaWork, SchemaDocument, SchemaWork } from './collections.ts';
import { finishPending, runPending } from './pending.ts';
import { restoreOfText, textOfRestore } from './plan.ts';
import { listQuarantine, objectOf, purgeObject, quarantineDocument } from './quarantine.ts';
import { checkRestorable } from './restore.ts';
import { lockNamespace, readDocument, readSchema, storedSchema, unlockNamespace } from './store.ts';

export function createSchemaCalls(run: RunSchemaWork, others: Others): SchemaCalls {
  const twice: RunSchemaWork = (bounds, work) => run(bounds, (session) => overLostConnection(() => work(session)));
  return {
    readSchema: (namespace, bounds) => twice(bounds, (work) => readSchema(work, namespace)),
    applySchema: (change, bounds) =>
      change.dryRun
        ? twice(bounds, (work) => checkSchema(work, change))
        : run(bounds, (work) => applySchema(work, others, change)),
    lockNamespace: (namespace, owner, now, bounds) =>
      twice(bounds, (work) => lockNamespace(work, namespace, owner, now)),
    unlockNamespace: (namespace, owner, bounds) => twice(bounds, (work) => unlockNamespace(work, namespace, owner)),
    listQuarantine: (namespace, bounds) => twice(bounds, (work) => listQuarantine(work, namespace)),
    restoreQuarantine: (id, now, bounds) => run(bounds, (work) => restoreQuarantine(work, others, id, now)),
    purgeQuarantine: (id, bounds) => run(bounds, (work) => purgeQuarantine(work, others, id)),
  };
}

/** For what may be done again: the connections of a pool are old after a restart of the server. */
async function overLostConnection<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (failureOf(error).kind !== 'lost') throw error;
    return work();
  }
}

async function restoreQuarantine(work: SchemaWork, others: Others, id: number, now: number): Promise<RestoredObject> {
  const asked = await quarantineDocument(work, id);
  const { namespace } = asked;
  const { stored, note: earlier } = await finished(work, others, namespace, id);
  if (earlier !== undefined) return { ...objectOf(asked), note: earlier };
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
  await finished(work, others, namespace, id);
  const document = await quarantineDocument(work, id);
  await purgeObject(work, id);
  return objectOf(document);
}

interface Finished {
  readonly stored: SchemaDocument | null;
  /** Only where the restoration of the very object was what had to be finished. */
  readonly note?: string | null;
}

/** The namespace with no change pending. */
async function finished(work: SchemaWork, others: Others, namespace: string, id: number): Promise<Finished> {
  const document = await readDocument(work, namespace);
  const pending = document?.pending;
  if (document === null || pending === undefined) return { stored: document };
  const { note } = await finishPending(work, others, document, pending);
  const stored = await readDocument(work, namespace);
  const isItself = pending.kind === 'restore' && restoreOfText(pending.plan).document._id === id;
  return isItself ? { stored, note } : { stored };
}
