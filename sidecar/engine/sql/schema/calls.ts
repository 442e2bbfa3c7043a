import { POSTGRES_SCHEMA } from '#engine/postgres/schema/dialect.ts';
import type { SchemaCalls } from '#engine/schema-calls.ts';
import { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { quarantineRows } from '#engine/sql/schema/quarantine.ts';
import { readStored } from '#engine/sql/schema/store.ts';
import type { Session, Sessions } from '#engine/sql/session.ts';
import { applySchema, checkSchema } from './apply.ts';
import { lockNamespace, unlockNamespace } from './locks.ts';
import { purgeQuarantine, restoreQuarantine } from './restore.ts';

export function createSchemaCalls(sessions: Sessions): SchemaCalls {
  const of = (session: Session): SchemaConnection => new SchemaConnection(session, POSTGRES_SCHEMA);
  return {
    readSchema: (namespace, bounds) => sessions.read(bounds, (session) => readStored(of(session), namespace)),
    applySchema: (change, bounds) =>
      change.dryRun
        ? sessions.read(bounds, (session) => checkSchema(of(session), change))
        : sessions.transaction(bounds, (session) => applySchema(of(session), change)),
    lockNamespace: (namespace, owner, now, bounds) =>
      sessions.write(bounds, (session) => lockNamespace(of(session), namespace, owner, now)),
    unlockNamespace: (namespace, owner, bounds) =>
      sessions.write(bounds, (session) => unlockNamespace(of(session), namespace, owner)),
    listQuarantine: (namespace, bounds) =>
      sessions.read(bounds, async (session) => {
        const rows = await quarantineRows(of(session), namespace);
        return rows.map(({ object }) => object);
      }),
    restoreQuarantine: (id, now, bounds) =>
      sessions.transaction(bounds, (session) => restoreQuarantine(of(session), id, now)),
    purgeQuarantine: (id, bounds) => sessions.transaction(bounds, (session) => purgeQuarantine(of(session), id)),
  };
}
