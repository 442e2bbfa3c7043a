import { ApiError } from '#protocol/errors.ts';
import type { Schema } from '#protocol/schema.ts';
import type { Restorable } from '../model/restore-rules.ts';
import { StaleSchemaError } from '../rows.ts';
import {
  checkRevision,
  type QuarantinedObject,
  type RestoredObject,
  type SchemaChange,
  type StoredSchema,
} from '../schema-calls.ts';
import { type NewPlan, outcomeOf, type Plan } from './plan.ts';

/** A namespace as it is stored. */
export interface StoredChange {
  readonly stored: StoredSchema | null;
  /** A change that leads away from the stored schema: it runs in another process, or was cut off. */
  readonly plan: Plan | null;
}

/** A change that was carried out; `note` is for the owner, in plain words. */
export interface Done {
  readonly note: string | null;
}

/** A namespace while no other process changes it. */
export interface Turn extends StoredChange {
  /**
   * Stores the plan and carries it out. `check` runs before that and throws if the rows do not fit: then nothing has
   * changed. After the plan is stored the change is finished in any case, if not by this process then by the next one
   * that changes or reads the schema.
   */
  run(plan: NewPlan, check: () => Promise<void>): Promise<Done>;
  /** Carries out the plan that was found. Null if the database refused it and the plan was taken back. */
  finish(): Promise<Done | null>;
}

/** Parts of a schema change that differ between databases, on one connection. */
export interface ChangingDatabase {
  read(namespace: string): Promise<StoredChange>;
  /**
   * Runs work in the namespace's turn. @throws ApiError `sync_in_progress` if another process holds the turn too long
   */
  turn<T>(namespace: string, work: (turn: Turn) => Promise<T>): Promise<T>;
  /** Reads only. @throws ApiError `data_does_not_fit`, `unsupported_change` */
  checkRows(change: SchemaChange, stored: StoredSchema | null): Promise<void>;
  /** @throws ApiError `invalid_request` if nothing in quarantine has the id */
  kept(id: number): Promise<Restorable>;
  /**
   * Checks the database for the place of the object; the rules of the schema are checked before. Reads only. @throws
   * ApiError `unsupported_change`
   */
  checkPlace(kept: Restorable): Promise<void>;
  /** Deletes a kept object for good. */
  purge(kept: Restorable): Promise<void>;
}

/**
 * Checks that every row fits and changes nothing. @throws ApiError `data_does_not_fit`, `sync_in_progress`;
 * StaleSchemaError
 */
export async function checkSchema(database: ChangingDatabase, change: SchemaChange): Promise<void> {
  const { stored, plan } = await database.read(change.namespace);
  if (plan !== null) {
    const reason = `a schema change of namespace ${change.namespace} was cut off or runs elsewhere`;
    throw new ApiError('sync_in_progress', `${reason}; a sync that is no dry run finishes it`);
  }
  checkRevision(change, stored);
  await database.checkRows(change, stored);
}

/** The same checks, then the whole change. @throws StaleSchemaError also after another change was finished first */
export async function applySchema(database: ChangingDatabase, change: SchemaChange): Promise<void> {
  const { namespace, to, steps, now } = change;
  if ((await finishPending(database, namespace)) !== null) throw new StaleSchemaError(namespace);
  await database.turn(namespace, async (turn) => {
    checkRevision(change, turn.stored);
    await turn.run({ kind: 'sync', to, steps, now }, () => database.checkRows(change, turn.stored));
  });
}

/** Puts a kept table or column back into the stored schema, whose revision grows as with every change. */
export async function restoreQuarantine(database: ChangingDatabase, id: number, now: number): Promise<RestoredObject> {
  const { object: asked } = await database.kept(id);
  const { namespace } = asked;
  const finished = await finishPending(database, namespace);
  const wasItself = finished?.plan.kind === 'restore' && finished.plan.kept.object.id === id;
  if (wasItself) return { ...asked, note: finished.note };
  return database.turn(namespace, async (turn) => {
    // A change that was just finished may have moved the object.
    const kept = await database.kept(id);
    const plan = { kind: 'restore', kept, now } as const;
    outcomeOf(schemaOf(turn), plan);
    await database.checkPlace(kept);
    const { note } = await turn.run(plan, () => Promise.resolve());
    return { ...kept.object, note };
  });
}

/** After a crash the object is still listed, or only the next purge or schema change sees the rest of it. */
export async function purgeQuarantine(database: ChangingDatabase, id: number): Promise<QuarantinedObject> {
  const { namespace } = (await database.kept(id)).object;
  await finishPending(database, namespace);
  return database.turn(namespace, async () => {
    const kept = await database.kept(id);
    await database.purge(kept);
    return kept.object;
  });
}

/**
 * Finishes a change that was cut off, whichever process began it. Null if no change is pending, or it was taken back.
 */
export async function finishPending(
  database: ChangingDatabase,
  namespace: string,
): Promise<(Done & { readonly plan: Plan }) | null> {
  if ((await database.read(namespace)).plan === null) return null;
  return database.turn(namespace, async (turn) => {
    const done = turn.plan === null ? null : await turn.finish();
    return turn.plan === null || done === null ? null : { ...done, plan: turn.plan };
  });
}

/** Schema from which a change starts. */
export function schemaOf({ stored }: StoredChange): Schema {
  return stored?.schema ?? { tables: [] };
}
