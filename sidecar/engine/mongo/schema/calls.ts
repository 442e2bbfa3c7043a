import type { Leases } from '#engine/cluster/leases.ts';
import {
  applySchema,
  type ChangingDatabase,
  checkSchema,
  purgeQuarantine,
  restoreQuarantine,
} from '#engine/pending/changes.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { SchemaCalls } from '#engine/schema-calls.ts';
import { failureOf } from '../failures.ts';
import { changingDatabase } from './changes.ts';
import type { Others, RunSchemaWork } from './collections.ts';
import { listQuarantine } from './quarantine.ts';
import { readSchema } from './store.ts';

export function createSchemaCalls(run: RunSchemaWork, others: Others, leases: Leases): SchemaCalls {
  const twice: RunSchemaWork = (bounds, work) => run(bounds, (session) => overLostConnection(() => work(session)));
  const change = <T>(bounds: CallBounds, work: (database: ChangingDatabase) => Promise<T>) =>
    run(bounds, (session) => work(changingDatabase(session, others, leases, bounds)));
  return {
    readSchema: (namespace, bounds) => twice(bounds, (work) => readSchema(work, namespace)),
    applySchema: (wanted, bounds) =>
      wanted.dryRun
        ? twice(bounds, (work) => checkSchema(changingDatabase(work, others, leases, bounds), wanted))
        : change(bounds, (database) => applySchema(database, wanted)),
    listQuarantine: (namespace, bounds) => twice(bounds, (work) => listQuarantine(work, namespace)),
    restoreQuarantine: (id, now, bounds) => change(bounds, (database) => restoreQuarantine(database, id, now)),
    purgeQuarantine: (id, bounds) => change(bounds, (database) => purgeQuarantine(database, id)),
  };
}

/** Repeats work that may be done again: after a restart of the server the connections of a pool are old. */
async function overLostConnection<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (failureOf(error).kind !== 'lost') throw error;
    return work();
  }
}
