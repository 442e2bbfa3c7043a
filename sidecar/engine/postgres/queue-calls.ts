import type { QueueCalls } from '../queues.ts';
import { type ApplyDialect, applyQueue } from '../sql/queue/apply.ts';
import { createQueueCalls } from '../sql/queue/calls.ts';
import type { Sessions } from '../sql/session.ts';
import { classify } from './failures.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { runQueued } from './write.ts';

const POSTGRES_QUEUES: ApplyDialect = {
  schema: POSTGRES_SCHEMA,
  runWrite: (session, { target, write }) => runQueued(session, target, write),
  classify,
};

export function createPostgresQueues(sessions: Sessions): QueueCalls {
  return {
    ...createQueueCalls(sessions, POSTGRES_SCHEMA),
    applyQueue: (batch, bounds) => applyQueue(sessions, POSTGRES_QUEUES, batch, bounds),
  };
}
