import { schemaOfText } from '#engine/model/schema-text.ts';
import type { CallBounds } from '#engine/rows.ts';
import { createClusterCalls } from '#engine/sql/cluster.ts';
import { createQueueCalls } from '#engine/sql/queue/calls.ts';
import { createSchemaCalls } from '#engine/sql/schema/calls.ts';
import { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { readStoredText } from '#engine/sql/schema/store.ts';
import { createTransactionalTransfer } from '#engine/sql/transfer.ts';
import type { Connection } from '../connection.ts';
import { tableSizes } from '../read.ts';
import { SQLITE_SCHEMA } from '../schema/dialect.ts';
import { type Jobs, receivedChange, type SentChange } from './jobs.ts';
import type { JobCall } from './messages.ts';
import { WorkerSessions } from './session.ts';

export function createJobs(connection: Connection): Jobs {
  const sessions = new WorkerSessions(connection);
  const schemas = createSchemaCalls(sessions, SQLITE_SCHEMA);
  const queues = createQueueCalls(sessions, SQLITE_SCHEMA);
  const transfer = createTransactionalTransfer(sessions, SQLITE_SCHEMA);
  const applySchema = (change: SentChange, bounds: CallBounds) => schemas.applySchema(receivedChange(change), bounds);
  return {
    ...schemas,
    ...queues,
    ...transfer,
    ...createClusterCalls(sessions, () => SQLITE_SCHEMA),
    readSchema: (namespace, bounds) =>
      sessions.read(bounds, (session) => readStoredText(new SchemaConnection(session, SQLITE_SCHEMA), namespace)),
    checkSchema: applySchema,
    applySchema,
    listLetters: (namespace, limit, bounds) => queues.listLetters(namespace, bounds, limit),
    async createKept(kept, shape, bounds) {
      const [table] = schemaOfText(shape).tables;
      if (table === undefined) throw new Error('a kept object has no shape');
      return transfer.createKept(kept, table, bounds);
    },
    version: (bounds) =>
      sessions.read(bounds, async (session) => String((await session.query('SELECT sqlite_version()')).rows[0]?.[0])),
    tableSizes: (namespace, tables, budgetMs, bounds) =>
      sessions.read(bounds, (session) => tableSizes(session, namespace, tables, budgetMs)),
  };
}

/** @param deadline of `performance.now()` in this thread */
export function runJob(jobs: Jobs, { name, args }: JobCall, deadline: number): Promise<unknown> {
  const job = jobs[name] as (...args: readonly unknown[]) => Promise<unknown>;
  return job(...args, { deadline });
}
