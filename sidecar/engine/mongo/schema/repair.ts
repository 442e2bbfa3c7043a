import { randomUUID } from 'node:crypto';
import type { Others, SchemaWork } from './collections.ts';
import { finishPending } from './pending.ts';
import { lockNamespace, readDocument, unlockNamespace, withdraw } from './store.ts';

/**
 * Finishes a change whose sidecar is gone, so that nobody has to declare a schema before rows can be used again. Does
 * nothing while the namespace is locked: then somebody works on it. `now` in epoch milliseconds.
 */
export async function repairNamespace(work: SchemaWork, others: Others, namespace: string, now: number): Promise<void> {
  const owner = `repair:${randomUUID()}`;
  if (!(await lockNamespace(work, namespace, owner, now))) return;
  try {
    const document = await readDocument(work, namespace);
    if (document?.pending !== undefined) await finishPending(work, others, document, document.pending);
    else if (document?.changing !== undefined) await withdraw(work, namespace, document.changing.token);
  } finally {
    await unlockNamespace(work, namespace, owner);
  }
}
