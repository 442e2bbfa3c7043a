import { findTable, type Table } from '#protocol/schema.ts';
import { hasGenerator } from '../model/physical-indexes.ts';
import { schemaOfText } from '../model/schema-text.ts';
import type { CallBounds } from '../rows.ts';
import type { GeneratorState, KeptObject, NewKeptObject, Transfer } from '../transfer.ts';
import { writeQueue } from './queue/rows.ts';
import { type ChangeConnection, SchemaConnection, type TransactionalDialect } from './schema/connection.ts';
import { rememberedLastIds, rememberLastId } from './schema/generators.ts';
import { quarantineRow, quarantineRows, register } from './schema/quarantine.ts';
import { readStored } from './schema/store.ts';
import type { Session, Sessions } from './session.ts';

/** The parts in which engines differ. */
export interface TransferParts {
  readonly sessions: Sessions;
  connect(session: Session): SchemaConnection;
  /** The highest id that the generator of a physical table ever gave, 0 for none. */
  lastId(connection: SchemaConnection, physical: string): Promise<bigint>;
  raiseLastId(connection: SchemaConnection, physical: string, last: bigint): Promise<void>;
  createKept(kept: NewKeptObject, shape: Table, bounds: CallBounds): Promise<KeptObject>;
}

/** The part of a relational engine that moves whole namespaces. */
export function createTransfer(parts: TransferParts): Transfer {
  const { sessions, connect } = parts;
  return {
    listNamespaces: (bounds) =>
      sessions.read(bounds, async (session) => {
        const rows = await connect(session).rows('SELECT namespace FROM _schemas ORDER BY namespace');
        return rows.map(([namespace]) => String(namespace));
      }),
    readMark: (name, bounds) => sessions.read(bounds, (session) => readMark(connect(session), name)),
    writeMark: (name, value, bounds) =>
      sessions.transaction(bounds, (session) => writeMark(connect(session), name, value)),
    readGenerators: (namespace, bounds) =>
      sessions.read(bounds, (session) => readGenerators(connect(session), parts, namespace)),
    raiseGenerators: (namespace, states, bounds) =>
      sessions.transaction(bounds, (session) => raiseGenerators(connect(session), parts, namespace, states)),
    writeQueue: (row, bounds) => sessions.transaction(bounds, (session) => writeQueue(connect(session), row)),
    hasHalfApplied: async () => false,
    listKept: (namespace, bounds) => sessions.read(bounds, (session) => listKept(connect(session), parts, namespace)),
    createKept: (kept, shape, bounds) => parts.createKept(kept, shape, bounds),
  };
}

/** The same for an engine with `transactionalSchema`. */
export function createTransactionalTransfer(sessions: Sessions, dialect: TransactionalDialect): Transfer {
  const connect = (session: Session) => new SchemaConnection(session, dialect);
  return createTransfer({
    sessions,
    connect,
    lastId: dialect.lastId,
    raiseLastId: dialect.raiseLastId,
    createKept: (kept, shape, bounds) =>
      sessions.transaction(bounds, (session) => createKept(connect(session), kept, shape)),
  });
}

async function createKept(connection: ChangeConnection, kept: NewKeptObject, shape: Table): Promise<KeptObject> {
  const { id, physical } = await register(connection, kept);
  await connection.run(connection.dialect.createTableSql(physical, shape));
  if (kept.lastId !== null) await connection.dialect.raiseLastId(connection, physical, kept.lastId);
  const { object, definition } = await quarantineRow(connection, id);
  return { ...object, physical, definition, lastId: kept.lastId };
}

async function readMark(connection: SchemaConnection, name: string): Promise<string | null> {
  const [row] = await connection.rows('SELECT value FROM _meta WHERE name = ?', [name]);
  return row === undefined ? null : String(row[0]);
}

async function writeMark(connection: SchemaConnection, name: string, value: string | null): Promise<void> {
  await connection.run('DELETE FROM _meta WHERE name = ?', [name]);
  if (value !== null) await connection.run('INSERT INTO _meta (name, value) VALUES (?, ?)', [name, value]);
}

/** Rows of a table without key have generated ids too. */
function countsIds(table: Table): boolean {
  return table.primaryKey === undefined || hasGenerator(table);
}

async function readGenerators(
  connection: SchemaConnection,
  parts: TransferParts,
  namespace: string,
): Promise<GeneratorState[]> {
  const last = await rememberedLastIds(connection, namespace);
  for (const table of await declaredTables(connection, namespace)) {
    if (!countsIds(table)) continue;
    const own = await parts.lastId(connection, connection.physicalTable(namespace, table.name));
    const old = last.get(table.name) ?? 0n;
    last.set(table.name, own > old ? own : old);
  }
  return [...last].map(([table, lastId]) => ({ table, lastId }));
}

async function raiseGenerators(
  connection: SchemaConnection,
  parts: TransferParts,
  namespace: string,
  states: readonly GeneratorState[],
): Promise<void> {
  const schema = { tables: await declaredTables(connection, namespace) };
  for (const { table: name, lastId } of states) {
    const table = findTable(schema, name);
    if (table !== null && countsIds(table))
      await parts.raiseLastId(connection, connection.physicalTable(namespace, name), lastId);
    await rememberLastId(connection, namespace, name, lastId);
  }
}

async function declaredTables(connection: SchemaConnection, namespace: string): Promise<readonly Table[]> {
  return (await readStored(connection, namespace))?.schema.tables ?? [];
}

async function listKept(connection: SchemaConnection, parts: TransferParts, namespace: string): Promise<KeptObject[]> {
  const kept: KeptObject[] = [];
  for (const { object, physical, definition } of await quarantineRows(connection, namespace)) {
    const table = object.kind === 'table' ? findTable(schemaOfText(definition), object.table) : null;
    const lastId = table !== null && countsIds(table) ? await parts.lastId(connection, physical) : null;
    kept.push({ ...object, physical, definition, lastId });
  }
  return kept;
}
