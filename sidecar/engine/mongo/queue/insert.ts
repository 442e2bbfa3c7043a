import type { QueuedEntry } from '#engine/queues.ts';
import type { QueuedOperation, WriteCall } from '../write/call.ts';
import { documentsThere, insertAll, newDocuments, plannedRows } from '../write/insert.ts';

/** An entry that inserts. */
export interface Insertion {
  readonly entry: QueuedEntry;
  readonly operation: QueuedOperation;
}

/**
 * Inserts the rows of neighbouring entries in one statement, in order, each with an `_id` made of its place in the journal.
 * Resolves with how many entries are done: fewer where a row of the next one is refused. Part of that one may lie there.
 * @throws ApiError where it cannot tell of which
 */
export async function insertTogether(call: WriteCall, insertions: readonly Insertion[]): Promise<number> {
  const planned = insertions.flatMap(({ entry, operation }, place) =>
    plannedRows(operation, rowsOf(entry)).map((row) => ({ ...row, place })),
  );
  const isResumed = insertions.some(({ operation }) => operation.isResumed);
  const there = isResumed ? await documentsThere(call, planned) : null;
  const missing = there === null ? planned : planned.filter(({ _id }) => !there.has(_id.toHexString()));
  const documents = await newDocuments(call, missing);
  const stop = await insertAll(call, documents);
  return missing[stop?.inserted ?? documents.length]?.place ?? insertions.length;
}

function rowsOf({ work }: QueuedEntry) {
  if (!('write' in work) || work.write.op !== 'insert') throw new Error('only inserts go together');
  return work.write.rows;
}
