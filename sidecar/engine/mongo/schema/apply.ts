import { randomUUID } from 'node:crypto';
import { physicalTable } from '#engine/model/physical-names.ts';
import { transitionsOf } from '#engine/model/table-transition.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { SchemaChange } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Schema } from '#protocol/schema.ts';
import { misfits } from './checks.ts';
import type { Others, PendingChange, SchemaWork } from './collections.ts';
import { reserveQuarantineIds } from './generators.ts';
import { finishPending, runPending } from './pending.ts';
import { isKeeping, type SyncPlan, textOfPlan } from './plan.ts';
import { announce, raiseFormat, readDocument, storedSchema, storePending, withdraw } from './store.ts';
import { isTaken } from './whole.ts';

/** Checks that every row fits and changes nothing. Throws `data_does_not_fit`, `sync_in_progress`, `StaleSchemaError`. */
export async function checkSchema(work: SchemaWork, change: SchemaChange): Promise<void> {
  const document = await readDocument(work, change.namespace);
  if (document?.pending !== undefined) {
    const reason = `a schema change of namespace ${change.namespace} was cut off or runs elsewhere`;
    throw new ApiError('sync_in_progress', `${reason}; a sync that is no dry run finishes it`);
  }
  checkRevision(change, document);
  await checkRows(work, change, storedSchema(document));
}

/**
 * The same checks, then the whole change. It is announced to other sidecars first, which let their operations end; then
 * the rows are looked at, and only when all fit the change is stored and begins. From there on it is finished in any
 * case, if not by this sidecar then by whoever changes the schema next.
 */
export async function applySchema(work: SchemaWork, others: Others, change: SchemaChange): Promise<void> {
  const { namespace } = change;
  const document = await readDocument(work, namespace);
  if (document?.pending !== undefined) {
    await finishPending(work, others, document, document.pending);
    throw new StaleSchemaError(namespace);
  }
  checkRevision(change, document);
  const from = storedSchema(document);
  const revision = change.from?.revision ?? null;
  const pending = await prepared(work, others, namespace, revision, async () => {
    await checkRows(work, change, from);
    await raiseFormat(work, change.to);
    return { kind: 'sync', plan: textOfPlan(await planOf(work, change)) };
  });
  await runPending(work, namespace, from, pending);
}

/** Announces a change, looks at the rows, and stores what is to be done; where it cannot be done all is as before. */
export async function prepared(
  work: SchemaWork,
  others: Others,
  namespace: string,
  revision: number | null,
  plan: () => Promise<Pick<PendingChange, 'kind' | 'plan'>>,
): Promise<PendingChange> {
  const token = randomUUID();
  await announce(work, namespace, revision, token);
  try {
    await others.wait(work, namespace, token);
    const pending = { token, position: 0, ...(await plan()) };
    await storePending(work, namespace, pending);
    return pending;
  } catch (error) {
    // A mark that stays is taken back by the next operation that waits for it, or taken over by the next change.
    await withdraw(work, namespace, token).catch(() => {});
    throw error;
  }
}

function checkRevision({ namespace, from }: SchemaChange, document: { readonly revision: number } | null): void {
  // Revision 0 is that of a namespace whose first sync never came to its end.
  const revision = document?.revision ?? 0;
  if (revision !== (from?.revision ?? 0)) throw new StaleSchemaError(namespace);
}

async function checkRows(work: SchemaWork, change: SchemaChange, from: Schema): Promise<void> {
  const { namespace, to, steps, now } = change;
  const faults: string[] = [];
  for (const transition of transitionsOf(from, to, steps)) {
    faults.push(...(await misfits(work, namespace, transition, now)));
  }
  for (const step of steps) {
    const name = step.kind === 'createTable' ? step.table.name : step.kind === 'renameTable' ? step.to : null;
    if (name !== null && (await isTaken(work, physicalTable(namespace, name)))) {
      faults.push(`${namespace}.${name}: the database holds documents under this name that no schema declares`);
    }
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
}

async function planOf(work: SchemaWork, { namespace, to, steps, now }: SchemaChange): Promise<SyncPlan> {
  const count = steps.filter(isKeeping).length;
  return { namespace, to, steps, now, firstId: count === 0 ? 0 : await reserveQuarantineIds(work, count) };
}
