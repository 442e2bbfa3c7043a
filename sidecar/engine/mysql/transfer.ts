import type { Table } from '#protocol/schema.ts';
import { physicalTable, quarantineName } from '../model/physical-names.ts';
import type { SchemaConnection } from '../sql/schema/connection.ts';
import { forgetQuarantine, quarantineRow, register } from '../sql/schema/quarantine.ts';
import type { Session } from '../sql/session.ts';
import { createTransfer } from '../sql/transfer.ts';
import type { KeptObject, NewKeptObject, Transfer } from '../transfer.ts';
import { quoted } from './dialect.ts';
import type { SchemaCallOptions, SchemaTools } from './schema/context.ts';
import { createTableSql } from './schema/ddl.ts';
import { beginAtClause, lastId } from './schema/inspect.ts';
import { inTransaction } from './schema/turn.ts';

/** The part of the engine that moves whole namespaces. */
export function createMysqlTransfer(
  { sessions }: Pick<SchemaCallOptions, 'sessions'>,
  toolsOf: (session: Session) => SchemaTools,
): Transfer {
  return createTransfer({
    sessions,
    connect: (session) => toolsOf(session).connection,
    lastId,
    raiseLastId,
    createKept: (kept, shape, bounds) => sessions.write(bounds, (session) => createKept(toolsOf(session), kept, shape)),
  });
}

async function raiseLastId(connection: SchemaConnection, physical: string, last: bigint): Promise<void> {
  await connection.run(`ALTER TABLE ${quoted(physical)} ${await beginAtClause(connection, physical, last + 1n)}`);
}

/** The table first: a crash before it is registered leaves a table that is never listed. */
async function createKept(
  { connection, flavour }: SchemaTools,
  kept: NewKeptObject,
  shape: Table,
): Promise<KeptObject> {
  const id = await newId(connection, kept);
  const physical = quarantineName(id, physicalTable(kept.namespace, kept.table), kept.column);
  const columns = shape.columns.map((column) => ({ ...column, unique: false }));
  const table = { ...shape, columns, indexes: [] };
  await connection.run(createTableSql({ physical, table, flavour, revision: 0, nextId: (kept.lastId ?? 0n) + 1n }));
  const { namespace, kind, table: name, column, definition, rows, quarantinedAt } = kept;
  await connection.run(
    `INSERT INTO _quarantine
       (id, namespace, kind, table_name, column_name, physical_name, definition, row_count, quarantined_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, namespace, kind, name, column, physical, definition, rows, quarantinedAt],
  );
  const { object } = await quarantineRow(connection, id);
  return { ...object, physical, definition, lastId: kept.lastId };
}

/** A generator never gives an id twice, even if the row with it is gone. */
function newId(connection: SchemaConnection, kept: NewKeptObject): Promise<number> {
  return inTransaction(connection, async () => {
    const { id } = await register(connection, kept);
    await forgetQuarantine(connection, id);
    return id;
  });
}
