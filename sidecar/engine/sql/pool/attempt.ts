import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Session } from '../session.ts';
import { AbandonedError, type DeadlineSession, UnconfirmedError, UnsentError } from './deadline-session.ts';
import type { SqlFailures } from './driver.ts';

const RETRY_STEP_MS = 8;
/** Doublings of the step: the longest pause is half a second. */
const MAX_DOUBLINGS = 6;

export type Work<T> = (session: Session) => Promise<T>;

/** See `Sessions` and `ServerSessions`. */
export type Kind = 'read' | 'write' | 'compound' | 'transaction';

/** How far an attempt came before it failed. */
type Stage = 'unsent' | 'sent' | 'committing';

export class AttemptError extends Error {
  readonly stage: Stage;
  /** Nothing was changed, and another host may do the work. */
  hasNextHost = false;

  constructor(stage: Stage, cause: unknown) {
    super('an attempt failed', { cause });
    this.stage = stage;
  }
}

export async function inAutocommit<T>(session: DeadlineSession, work: Work<T>): Promise<T> {
  try {
    return await work(session);
  } catch (error) {
    throw new AttemptError(session.hasSent ? 'sent' : 'unsent', error);
  }
}

export async function inTransaction<T>(session: DeadlineSession, work: Work<T>): Promise<T> {
  let result: T;
  try {
    await session.begin();
    result = await work(session);
  } catch (error) {
    throw new AttemptError('sent', error);
  }
  try {
    await session.commit();
  } catch (error) {
    // Refused before it was sent: the deadline had passed, or the connection was known to be gone.
    const isUnsent = error instanceof ApiError || error instanceof UnsentError;
    throw new AttemptError(isUnsent ? 'sent' : 'committing', error);
  }
  return result;
}

/** The server has not answered, or has said that it closes the connection. */
export function isConnectionAtFault(error: unknown, failures: SqlFailures): boolean {
  const cause = error instanceof AttemptError ? error.cause : error;
  if (cause instanceof ApiError || cause instanceof StaleSchemaError) return false;
  if (cause instanceof AbandonedError || cause instanceof UnconfirmedError || cause instanceof UnsentError) return true;
  return failures.classify(cause).kind === 'lost';
}

/** False if the connection must not be used again; the server rolls back when it closes. */
export async function rolledBack(session: DeadlineSession): Promise<boolean> {
  if (!session.isReusable) return false;
  try {
    await session.rollback();
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds to wait after attempt number `attempt`, counted from 0. */
export function jitterMs(attempt: number): number {
  return Math.random() * RETRY_STEP_MS * 2 ** Math.min(attempt + 1, MAX_DOUBLINGS);
}

/** No connection was free before the deadline, so nothing was sent. */
export function isTimeout(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'database_timeout';
}
