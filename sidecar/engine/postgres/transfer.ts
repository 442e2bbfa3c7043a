import type { Table } from '#protocol/schema.ts';
import { SchemaConnection } from '../sql/schema/connection.ts';
import { quarantineRow, register } from '../sql/schema/quarantine.ts';
import type { Sessions } from '../sql/session.ts';
import { createTransfer } from '../sql/transfer.ts';
import type { KeptObject, NewKeptObject, Transfer } from '../transfer.ts';
import { createTableSql } from './schema/ddl.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { lastId, raiseLastId } from './schema/generators.ts';

/** The part of the engine that moves whole namespaces. */
export function createPostgresTransfer(sessions: Sessions): Transfer {
  return createTransfer({
    sessions,
    connect: (session) => new SchemaConnection(session, POSTGRES_SCHEMA),
    lastId,
    raiseLastId,
    createKept: (kept, shape, bounds) =>
      sessions.transaction(bounds, (session) =>
        createKept(new SchemaConnection(session, POSTGRES_SCHEMA), kept, shape),
      ),
  });
}

async function createKept(connection: SchemaConnection, kept: NewKeptObject, shape: Table): Promise<KeptObject> {
  const { id, physical } = await register(connection, kept);
  await connection.run(createTableSql(physical, shape));
  if (kept.lastId !== null) await raiseLastId(connection, physical, kept.lastId);
  const { object, definition } = await quarantineRow(connection, id);
  return { ...object, physical, definition, lastId: kept.lastId };
}
