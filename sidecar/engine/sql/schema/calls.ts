import type { SchemaCalls } from '#engine/schema-calls.ts';
import type { Session, Sessions } from '../session.ts';
import { applySchema, checkSchema } from './apply.ts';
import { SchemaConnection, type TransactionalDialect } from './connection.ts';
import { quarantineRows } from './quarantine.ts';
import { purgeQuarantine, restoreQuarantine } from './restore.ts';
import { readStored } from './store.ts';

/** The schema calls of an engine with `transactionalSchema`. */
export function createSchemaCalls(sessions: Sessions, dialect: TransactionalDialect): SchemaCalls {
  const of = (session: Session) => new SchemaConnection(session, dialect);
  return {
    readSchema: (namespace, bounds) => sessions.read(bounds, (session) => readStored(of(session), namespace)),
    applySchema: (change, bounds) =>
      change.dryRun
        ? sessions.read(bounds, (session) => checkSchema(of(session), change))
        : sessions.transaction(bounds, (session) => applySchema(of(session), change)),
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
