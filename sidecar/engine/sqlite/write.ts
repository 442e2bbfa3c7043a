import { rememberedAnswer } from '../model/remembered-answer.ts';
import { runBatch } from './batch.ts';
import type { CheckedRevisions, Connection } from './connection.ts';
import { recall } from './read.ts';
import type { BatchQuestion, BatchReply, BatchWork, WriteCall, WriteWork } from './worker/messages.ts';
import { generatorAtEnd, isAtEnd, isFull, runWork } from './worker/write-work.ts';

const REMEMBER = `
  INSERT INTO _idempotency (kid, namespace, key, fingerprint, result, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (kid, namespace, key)
  DO UPDATE SET fingerprint = excluded.fingerprint, result = excluded.result, expires_at = excluded.expires_at`;

/** Asks the API's thread for steps of a batch that need ids of earlier ones, and waits. @throws ApiError */
export type AskSteps = (call: WriteCall, question: BatchQuestion) => BatchReply;

/**
 * Runs one write inside the transaction of its group, and remembers its result there. A failed statement is undone; the
 * caller undoes the statements before it.
 */
export function runWrite(connection: Connection, revisions: CheckedRevisions, call: WriteCall, ask: AskSteps): string {
  const { slot } = call;
  if (slot !== null) {
    const remembered = recall(connection, [slot.kid, slot.namespace, slot.key, slot.now]);
    if (remembered !== null) return rememberedAnswer(remembered, slot);
  }
  revisions.check(call.namespace, call.revision);
  const { work } = call;
  const result =
    work.do === 'batch' ? runBatch(connection, work, (question) => ask(call, question)) : runWork(connection, work);
  if (slot !== null) {
    const { kid, namespace, key, fingerprint, expiresAt } = slot;
    connection.own(REMEMBER).run(kid, namespace, key, fingerprint, result, expiresAt);
  }
  return result;
}

/** Whether a failure in the middle may leave changes that SQLite itself does not undo. */
export function needsSavepoint({ work, slot }: Pick<WriteCall, 'work' | 'slot'>): boolean {
  if (slot !== null || work.do === 'upsert' || work.do === 'batch') return true;
  if (work.do === 'insert') return work.values.length > work.width || work.generator !== null;
  return work.isSingleRow;
}

/**
 * The same for a queued write: no caller waits for ids, which halves the cost.
 * @param ended tables whose generators have given their last id in this transaction
 */
export function runQueued(connection: Connection, work: WriteWork | BatchWork, ended: Set<string>): void {
  if (work.do === 'batch') {
    runBatch(connection, work, () => []);
    return;
  }
  if (work.do !== 'insert') {
    runWork(connection, work);
    return;
  }
  const { statement, values, width, generator } = work;
  const { prepared } = connection.statement(statement);
  const lastId = generator === null ? Number.POSITIVE_INFINITY : Number(generator.maxId);
  if (generator !== null) prepared.safeIntegers(false);
  try {
    for (let start = 0; start < values.length; start += width) {
      connection.guard.tick();
      const id = Number(prepared.run(...values.slice(start, start + width)).lastInsertRowid);
      if (id < lastId || generator === null) continue;
      if (id > lastId) throw generatorAtEnd();
      ended.add(generator.table);
    }
  } catch (error) {
    if (generator === null || !isFull(error)) throw error;
    throw ended.has(generator.table) || isAtEnd(connection, generator) ? generatorAtEnd() : error;
  }
}
