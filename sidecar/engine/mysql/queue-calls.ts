import type { QueueCalls } from '../queues.ts';
import { type ApplyDialect, applyQueue } from '../sql/queue/apply.ts';
import { createQueueCalls } from '../sql/queue/calls.ts';
import type { Sessions } from '../sql/session.ts';
import { classify } from './failures.ts';
import { schemaDialect } from './schema/dialect.ts';
import { runQueued } from './write.ts';

const MYSQL_QUEUES: ApplyDialect = {
  // What the two flavours differ in is their types of columns, of which queues make none.
  schema: schemaDialect('mariadb'),
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

export function createMysqlQueues(sessions: Sessions): QueueCalls {
  return {
    ...createQueueCalls(sessions, MYSQL_QUEUES.schema),
    applyQueue: (batch, bounds) => applyQueue(sessions, MYSQL_QUEUES, batch, bounds),
  };
}
