import type { QueueCalls } from '../queues.ts';
import { createQueueCalls } from '../sql/queue/calls.ts';
import type { QueueDialect } from '../sql/queue/dialect.ts';
import type { Sessions } from '../sql/session.ts';
import { classify } from './failures.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { runQueued } from './write.ts';

const POSTGRES_QUEUES: QueueDialect = {
  schema: POSTGRES_SCHEMA,
  keepSql: (key) => `ON CONFLICT ("${key}") DO NOTHING`,
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

export function createPostgresQueues(sessions: Sessions): QueueCalls {
  return createQueueCalls(sessions, POSTGRES_QUEUES);
}
