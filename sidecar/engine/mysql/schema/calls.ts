import { LEASE_DEAD_MS } from '#engine/cluster/leases.ts';
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
import { quarantineRow, quarantineRows } from '#engine/sql/schema/quarantine.ts';
import type { Session } from '#engine/sql/session.ts';
import { MAX_SYNC_WAIT_MS } from '#protocol/limits.ts';
import { createMysqlTransfer } from '../transfer.ts';
import { changingDatabase } from './changes.ts';
import type { SchemaCallOptions, SchemaTools } from './context.ts';
import { schemaDialect } from './dialect.ts';
import { readRow, unfinished } from './store.ts';

/** Time before its own deadline at which a reader of the schema stops waiting for a repair. */
const READER_MARGIN_MS = 500;
/** Time limit for waiting for the lease of a pending change: long enough to know that its holder is gone. */
const REPAIR_WAIT_MS = LEASE_DEAD_MS + 2000;

export function createSchemaCalls(options: SchemaCallOptions): Pick<Engine, 'schemas' | 'transfer'> {
  const { sessions, leases, flavour, log } = options;
  const toolsOf = (session: Session): SchemaTools => {
    const connection = new SchemaConnection(unprepared(session), schemaDialect(flavour()));
    return { connection, flavour: flavour(), log };
  };
  // The lease first: work that waits for it must not keep a connection that its holder needs.
  const change = <T>(namespace: string, bounds: CallBounds, work: (database: ChangingDatabase) => Promise<T>) =>
    leases.within(namespace, bounds, () =>
      sessions.write(bounds, (session) => work(changingDatabase(toolsOf(session), leases, bounds))),
    );
  const namespaceOf = (id: number, bounds: CallBounds) =>
    sessions.read(bounds, async (session) => (await quarantineRow(toolsOf(session).connection, id)).object.namespace);
  const schemas: SchemaCalls = {
    readSchema: schemaReader(options, toolsOf),
    applySchema: (wanted, bounds) =>
      wanted.dryRun
        ? sessions.read(bounds, (session) => checkSchema(changingDatabase(toolsOf(session), leases, bounds), wanted))
        : change(wanted.namespace, bounds, (database) => applySchema(database, wanted)),
    listQuarantine: (namespace, bounds) =>
      sessions.read(bounds, async (session) => {
        const rows = await quarantineRows(toolsOf(session).connection, namespace);
        return rows.map(({ object }) => object);
      }),
    restoreQuarantine: async (id, now, bounds) =>
      change(await namespaceOf(id, bounds), bounds, (database) => restoreQuarantine(database, id, now)),
    purgeQuarantine: async (id, bounds) =>
      change(await namespaceOf(id, bounds), bounds, (database) => purgeQuarantine(database, id)),
  };
  return { schemas, transfer: createMysqlTransfer(options, toolsOf) };
}

/**
 * Waits for a change that runs, at most 3 s, and finishes a change that was cut off: the lease of the namespace tells the
 * one from the other.
 */
function schemaReader(
  { sessions, leases }: Pick<SchemaCallOptions, 'sessions' | 'leases'>,
  toolsOf: (session: Session) => SchemaTools,
): SchemaCalls['readSchema'] {
  const repairs = new Repairs((namespace, bounds) => {
    const finish = () =>
      sessions.write(bounds, (session) => finishPending(changingDatabase(toolsOf(session), leases, bounds), namespace));
    return leases.within(namespace, bounds, finish, REPAIR_WAIT_MS);
  });
  const readOnce = (namespace: string, bounds: CallBounds) =>
    sessions.read(bounds, (session) => readRow(toolsOf(session).connection, namespace));
  return async (namespace, bounds) => {
    let row = await readOnce(namespace, bounds);
    if (row !== null && row.plan !== null) {
      await repairs.wait(namespace, Math.min(bounds.deadline - READER_MARGIN_MS, performance.now() + MAX_SYNC_WAIT_MS));
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
