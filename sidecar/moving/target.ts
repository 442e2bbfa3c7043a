import { type Schema, schemaHash } from '#protocol/schema.ts';
import type { Engine } from '../engine/engine.ts';
import { withTables } from '../engine/model/schema-parts.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { readMoveMark, writeMoveMark } from '../schema/move-mark.ts';
import { letterCount } from './copy-queue.ts';
import { changeBounds, patiently, statementBounds } from './patience.ts';
import { lastRow, tablePlace } from './place.ts';
import { MoveRefused, TargetOccupied } from './report.ts';
import { applyWhole, growRevision, storedSchema } from './revision.ts';

export interface TargetOptions {
  readonly engine: Engine;
  readonly namespace: string;
  readonly schema: Schema;
  /** Deletes what is there. */
  readonly replace: boolean;
  readonly say: (line: string) => void;
}

/**
 * Makes the tables of a namespace that is about to be filled, and closes it until `openTarget`. The caller holds its
 * lock. Continues an earlier run.
 * @throws MoveRefused if the namespace holds something that the caller may not delete
 */
export async function prepareTarget(options: TargetOptions): Promise<StoredSchema> {
  const { engine, namespace, schema, replace, say } = options;
  const left = await mark(engine, namespace);
  const isResumed = left?.kind === 'arriving' && left.by === 'copy';
  const found = await storedSchema(engine, namespace);
  if (isResumed && !replace) say(`${namespace}: goes on with a copy that was cut off`);
  if (!isResumed && !replace) await refuseOccupied(engine, namespace, found);
  await patiently(() => writeMoveMark(engine, namespace, { kind: 'arriving', by: 'copy' }, statementBounds()));
  const isOther = found !== null && found.hash !== schemaHash(schema);
  if (replace || isOther) await clear(engine, namespace);
  return applyWhole(engine, namespace, schema);
}

/** Deletes what a copy or an import that was cut off has left, and opens the namespace. @throws MoveRefused where none was */
export async function discardTarget(engine: Engine, namespace: string): Promise<void> {
  const left = await mark(engine, namespace);
  if (left?.kind !== 'arriving') throw new MoveRefused(`no copy or import into namespace ${namespace} was cut off`);
  if (left.by === 'copy') await clear(engine, namespace);
  else await removeTables(engine, namespace, left.tables);
  await openTarget(engine, namespace);
}

/** From now on sidecars serve the namespace. */
export function openTarget(engine: Engine, namespace: string): Promise<void> {
  return patiently(() => writeMoveMark(engine, namespace, null, statementBounds()));
}

function mark(engine: Engine, namespace: string) {
  return patiently(() => readMoveMark(engine, namespace, Date.now(), statementBounds()));
}

/** @throws MoveRefused if the namespace of the target holds something */
export async function refuseOccupied(engine: Engine, namespace: string, found: StoredSchema | null): Promise<void> {
  const occupied: string[] = [];
  for (const table of found?.schema.tables ?? []) {
    if (found !== null && (await lastRow(engine, tablePlace(found, table))) !== null) occupied.push(table.name);
  }
  const kept = await patiently(() => engine.schemas.listQuarantine(namespace, statementBounds()));
  if (kept.length > 0) occupied.push(`${kept.length} in quarantine`);
  const letters = await patiently(() => engine.queues.listLetters(namespace, statementBounds()));
  if (letters.length > 0) occupied.push(letterCount(letters));
  if (occupied.length === 0) return;
  throw new TargetOccupied(
    `namespace ${namespace} of the target is not empty (${occupied.join(', ')}); nothing was changed. With --replace all that it holds is deleted first`,
  );
}

/** An import stands beside tables that are in use, and beside their quarantine. */
async function removeTables(engine: Engine, namespace: string, names: readonly string[]): Promise<void> {
  // A change that was cut off is finished first, so that what is stored is what is there.
  const { schema } = await growRevision(engine, namespace);
  const left = schema.tables.filter((table) => !names.includes(table.name));
  await applyWhole(engine, namespace, withTables(schema, left));
}

async function clear(engine: Engine, namespace: string): Promise<void> {
  await applyWhole(engine, namespace, { tables: [] });
  for (const { id } of await patiently(() => engine.schemas.listQuarantine(namespace, statementBounds()))) {
    await patiently(() => engine.schemas.purgeQuarantine(id, changeBounds()));
  } // The queue's row stays, so that its tokens never come again.
  for (const { id } of await patiently(() => engine.queues.listLetters(namespace, statementBounds()))) {
    await patiently(() => engine.queues.discardLetter(id, statementBounds()));
  }
}
