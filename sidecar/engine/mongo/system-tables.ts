import { UnusableDatabaseError } from '../model/failures.ts';
import { FIRST_FORMAT_VERSION, FORMAT_VERSION } from '../model/schema-text.ts';
import { migrateQueues } from './queue/migrate.ts';
import { metaOf, quarantineOf, type SchemaWork } from './schema/collections.ts';
import { isTaken } from './schema/whole.ts';

const SYSTEM_COLLECTIONS = [
  '_meta',
  '_schemas',
  '_idempotency',
  '_quarantine',
  '_locks',
  '_generators',
  '_sidecars',
  '_revoked',
  '_journals',
  '_dead_letters',
];

/**
 * Creates the system collections that are missing, and checks the version of existing ones.
 * @throws UnusableDatabaseError if another program has documents under one of the names, or for a newer format; nothing
 * has changed then
 */
export async function prepareSystemCollections(work: SchemaWork): Promise<void> {
  if (await isPrepared(work)) return migrateQueues(work);
  for (const name of SYSTEM_COLLECTIONS) {
    // Another sidecar may have been first.
    if (!(await isTaken(work, name)) || (await isPrepared(work))) continue;
    throw new UnusableDatabaseError(
      `the database has a collection ${name} of another program, a name that the sidecar needs: rename it, or give the sidecar a database of its own; nothing was changed`,
    );
  }
  await work.db.collection('_idempotency').createIndex({ expiresAt: 1 }, { name: 'by_expiry', ...work.time() });
  await quarantineOf(work.db).createIndex({ namespace: 1 }, { name: 'by_namespace', ...work.time() });
  // Last, so that a database with a format has everything. If two sidecars start at once the first one wins.
  await metaOf(work.db).updateOne(
    { _id: 'format' },
    { $setOnInsert: { value: FIRST_FORMAT_VERSION } },
    { upsert: true, ...work.time() },
  );
}

async function isPrepared(work: SchemaWork): Promise<boolean> {
  const known = await metaOf(work.db).findOne({ _id: 'format' }, work.time());
  if (known === null) return false;
  checkFormatVersion(known.value);
  return true;
}

function checkFormatVersion(version: number | string): void {
  if (!Number.isSafeInteger(version) || Number(version) < 1) {
    throw new UnusableDatabaseError('the database has no readable format version; nothing was changed');
  }
  if (Number(version) > FORMAT_VERSION) {
    throw new UnusableDatabaseError(
      `the database has format version ${version}, and this program knows ${FORMAT_VERSION}: use a newer sidecar; nothing was changed`,
    );
  }
}
