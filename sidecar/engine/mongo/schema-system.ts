import { UnusableDatabaseError } from '../unusable-database-error.ts';
import { FORMAT_VERSION, metaOf, quarantineOf, type SchemaWork } from './schema-collections.ts';

/**
 * Creates the system collections where they are missing, or checks that those that are there are known.
 * @throws UnusableDatabaseError for a database of a newer version; nothing is changed then.
 */
export async function prepareSystemCollections(work: SchemaWork): Promise<void> {
  const meta = metaOf(work.db);
  const known = await meta.findOne({ _id: 'format' }, work.time());
  if (known !== null) {
    checkFormatVersion(known.value);
    return;
  }
  await work.db.collection('_idempotency').createIndex({ expiresAt: 1 }, { name: 'by_expiry', ...work.time() });
  await quarantineOf(work.db).createIndex({ namespace: 1 }, { name: 'by_namespace', ...work.time() });
  // Last of all, so that a database that has it has everything; of two sidecars that start at once the first one wins.
  await meta.updateOne(
    { _id: 'format' },
    { $setOnInsert: { value: FORMAT_VERSION } },
    { upsert: true, ...work.time() },
  );
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
