import type { QueueCalls } from '../queues.ts';
import { createQueueCalls } from '../sql/queue/calls.ts';
import type { QueueDialect } from '../sql/queue/dialect.ts';
import type { Sessions } from '../sql/session.ts';
import { MYSQL_DIALECT } from './dialect.ts';
import { classify } from './failures.ts';
import { schemaDialect } from './schema/dialect.ts';
import { runQueued } from './write.ts';

const MYSQL_QUEUES: QueueDialect = {
  // What the two flavours differ in is their types of columns, of which queues make none.
  schema: schemaDialect('mariadb'),
  keepSql: (key) => {
    const column = MYSQL_DIALECT.quoted(key);
    return `ON DUPLICATE KEY UPDATE ${column} = ${column}`;
  },
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

export function createMysqlQueues(sessions: Sessions): QueueCalls {
  return createQueueCalls(sessions, MYSQL_QUEUES);
}
