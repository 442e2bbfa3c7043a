import { ApiError } from '#protocol/errors.ts';
import { batchResult, checkExpected, failedResult } from '../batch.ts';
import type { Connection } from './connection.ts';
import { diagnose } from './failures.ts';
import type { BatchQuestion, BatchReply, BatchStep, BatchWork, Refusal, WriteWork } from './worker/messages.ts';
import { isAtEnd, runWork } from './worker/write-work.ts';

/** A batch in the transaction of its group; the caller has set a savepoint. */
export function runBatch(
  connection: Connection,
  { steps, isAtomic }: BatchWork,
  ask: (question: BatchQuestion) => BatchReply,
): string {
  const known = [...steps];
  const results: string[] = [];
  const ended = new Set<string>();
  for (let place = 0; place < known.length; place += 1) {
    if (known[place] === null) for (const [at, step] of ask({ operation: place, results })) known[at] = step;
    const step = known[place] as BatchStep | Refusal;
    results.push(isAtomic ? runOrThrow(connection, step, place, ended) : runForItself(connection, step, place, ended));
  }
  return batchResult(results);
}

function runOrThrow(connection: Connection, step: BatchStep | Refusal, place: number, ended: Set<string>): string {
  try {
    return run(connection, step, ended);
  } catch (error) {
    const { failure, isBroken } = diagnose(error);
    if (isBroken || failure.kind !== 'api' || !connection.isInTransaction) throw error;
    throw new ApiError(failure.code, failure.message).inOperation(place);
  }
}

function runForItself(connection: Connection, step: BatchStep | Refusal, place: number, ended: Set<string>): string {
  const db = connection.open();
  db.exec('SAVEPOINT step');
  try {
    const result = run(connection, step, ended);
    db.exec('RELEASE step');
    return result;
  } catch (error) {
    const { failure, isBroken } = diagnose(error);
    if (isBroken || failure.kind !== 'api' || !connection.isInTransaction) throw error;
    if (failure.code === 'database_timeout' || failure.code === 'conflict_retry') {
      throw new ApiError(failure.code, failure.message).inOperation(place);
    }
    db.exec('ROLLBACK TO step; RELEASE step');
    // The rollback may have freed the last id.
    ended.clear();
    return failedResult(failure);
  }
}

function run(connection: Connection, step: BatchStep | Refusal, ended: Set<string>): string {
  if (!('work' in step)) throw new ApiError(step.code, step.message);
  noteEnd(connection, step.work, ended);
  const result = runWork(connection, step.work, ended);
  checkExpected(result, step.expected);
  return result;
}

function noteEnd(connection: Connection, work: WriteWork, ended: Set<string>): void {
  if (work.do === 'change' || work.generator === null) return;
  if (isAtEnd(connection, work.generator)) ended.add(work.generator.table);
}
