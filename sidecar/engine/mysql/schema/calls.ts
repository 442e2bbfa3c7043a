import type { Engine } from '#engine/engine.ts';
import {
  applySchema,
  type ChangingDatabase,
  checkSchema,
  finishPending,
  purgeQuarantine,
  restoreQuarantine,
} from '#engine/pending/changes.ts';
import { Repairs } from '#engine/pending/repairs.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { SchemaCalls } from '#engine/schema-calls.ts';
import { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { quarantineRows } from '#engine/sql/schema/quarantine.ts';
import type { Session, Sessions } from '#engine/sql/session.ts';
import { createMysqlTransfer } from '../transfer.ts';
import { changingDatabase } from './changes.ts';
import type { SchemaCallOptions, SchemaTools } from './context.ts';
import { schemaDialect } from './dialect.ts';
import { lockNamespace, readRow, unfinished, unlockNamespace } from './store.ts';

/** Time before its own deadline at which a reader of the schema stops waiting for a repair. */
const READER_MARGIN_MS = 500;

export function createSchemaCalls(options: SchemaCallOptions): Pick<Engine, 'schemas' | 'transfer'> {
  const { sessions, flavour, log } = options;
  const toolsOf = (session: Session): SchemaTools => {
    const connection = new SchemaConnection(unprepared(session), schemaDialect(flavour()));
    return { connection, flavour: flavour(), log };
  };
  const change = <T>(bounds: CallBounds, work: (database: ChangingDatabase) => Promise<T>) =>
    sessions.write(bounds, (session) => work(changingDatabase(toolsOf(session))));
  const schemas: SchemaCalls = {
    readSchema: schemaReader(sessions, toolsOf),
    applySchema: (wanted, bounds) =>
      wanted.dryRun
        ? sessions.read(bounds, (session) => checkSchema(changingDatabase(toolsOf(session)), wanted))
        : change(bounds, (database) => applySchema(database, wanted)),
    lockNamespace: (namespace, owner, now, bounds) =>
      sessions.write(bounds, (session) => lockNamespace(toolsOf(session).connection, namespace, owner, now)),
    unlockNamespace: (namespace, owner, bounds) =>
      sessions.write(bounds, (session) => unlockNamespace(toolsOf(session).connection, namespace, owner)),
    listQuarantine: (namespace, bounds) =>
      sessions.read(bounds, async (session) => {
        const rows = await quarantineRows(toolsOf(session).connection, namespace);
        return rows.map(({ object }) => object);
      }),
    restoreQuarantine: (id, now, bounds) => change(bounds, (database) => restoreQuarantine(database, id, now)),
    purgeQuarantine: (id, bounds) => change(bounds, (database) => purgeQuarantine(database, id)),
  };
  return { schemas, transfer: createMysqlTransfer(options, toolsOf) };
}

/** Finishes a change that was cut off first, as far as the time of the reader allows. */
function schemaReader(sessions: Sessions, toolsOf: (session: Session) => SchemaTools): SchemaCalls['readSchema'] {
  const repairs = new Repairs((namespace, bounds) =>
    sessions.write(bounds, (session) => finishPending(changingDatabase(toolsOf(session)), namespace)),
  );
  const readOnce = (namespace: string, bounds: CallBounds) =>
    sessions.read(bounds, (session) => readRow(toolsOf(session).connection, namespace));
  return async (namespace, bounds) => {
    let row = await readOnce(namespace, bounds);
    if (row !== null && row.plan !== null) {
      await repairs.wait(namespace, bounds.deadline - READER_MARGIN_MS);
      row = await readOnce(namespace, bounds);
    }
    if (row === null) return null;
    return row.plan === null ? row.stored : unfinished(row);
  };
}

/**
 * Sends statements without parameters by the text protocol: not all schema statements and locks of tables can be
 * prepared.
 */
function unprepared(session: Session): Session {
  return {
    deadline: session.deadline,
    query: (text, params = []) => (params.length === 0 ? session.query(text) : session.query(text, params)),
    prepared: (text, params) => session.prepared(text, params),
    stream: (text, params, take) => session.stream(text, params, take),
  };
}
