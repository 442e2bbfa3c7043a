import { type Document, MongoServerError } from 'mongodb';
import type { SchemaWork, StepWork } from './collections.ts';

/** Steps over whole collections; each may be repeated. */

const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;

export async function createCollection(work: SchemaWork, name: string): Promise<void> {
  try {
    const { maxTimeMS, signal } = work.time();
    // `createCollection` of the driver would send the signal to the server, which refuses unknown options.
    await work.db.command({ create: name, maxTimeMS }, { signal });
  } catch (error) {
    if (!hasCode(error, NAMESPACE_EXISTS)) throw error;
  }
}

/** If the old collection is missing it is renamed already, or its owner has dropped it by hand. */
export async function renameCollection(work: StepWork, from: string, to: string): Promise<void> {
  const rename = () => work.db.collection(from).rename(to, work.time());
  try {
    await rename();
  } catch (error) {
    if (hasCode(error, NAMESPACE_NOT_FOUND)) return createCollection(work, to);
    if (!hasCode(error, NAMESPACE_EXISTS) || (await isTaken(work, to))) throw error;
    await work.checkTurn();
    await dropUsedName(work, to);
    await work.checkTurn();
    await rename();
  }
}

/** Long counts come back as objects. */
export async function countRows(work: SchemaWork, name: string, condition: Document, limit?: number): Promise<number> {
  const options = { ...work.time(), ...(limit === undefined ? {} : { limit }) };
  return Number(await work.db.collection(name).countDocuments(condition, options));
}

/** Whether a collection that no declared table has made holds documents. */
export async function isTaken(work: SchemaWork, name: string): Promise<boolean> {
  return (await work.db.collection(name).findOne({}, { ...work.time(), projection: { _id: 1 } })) !== null;
}

/**
 * Drops the collection that has this name now, and no other one that was renamed away from it: FerretDB keeps for each of its
 * connections which collection a name means, which may miss a rename, and drops by that. A rename goes by the stored names,
 * and nothing is ever renamed away from the name aside. May be done again after a crash at any point.
 */
export async function dropUsedName(work: StepWork, name: string): Promise<void> {
  const aside = `_gone_${name}`;
  await dropCollection(work, aside);
  await work.checkTurn();
  try {
    await work.db.collection(name).rename(aside, work.time());
  } catch (error) {
    if (hasCode(error, NAMESPACE_NOT_FOUND)) return;
    throw error;
  }
  await dropCollection(work, aside);
}

/** Only for a name from which no collection is renamed away. */
export async function dropCollection(work: SchemaWork, name: string): Promise<void> {
  try {
    await work.db.collection(name).drop(work.time());
  } catch (error) {
    if (!hasCode(error, NAMESPACE_NOT_FOUND)) throw error;
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
