import { ApiError } from '#protocol/errors.ts';
import { type Writable, writeJson } from '#protocol/json.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import { isDeferred } from '../engine/batch.ts';
import type { QueuedBatch, QueuedWork } from '../engine/queues.ts';
import { type BatchTables, batchOf } from './batch-of.ts';
import type { WriteContext } from './write-of.ts';

/**
 * What a batch means as one entry of a queue, when it is accepted and again when it is applied.
 * @throws ApiError of an atomic one, with the operation's index
 */
export function queuedBatchOf(payload: PayloadOf<'batch'>, tables: BatchTables, context: WriteContext): QueuedBatch {
  const { isAtomic, operations } = batchOf(payload, tables, context, { mayRefer: false });
  const parts = payload.operations.map((member, index) => {
    const { op, expect: _, ...own } = member;
    // Properties that are left out are absent in a payload that was parsed.
    const alone = () => writeJson({ namespace: payload.namespace, ...own } as unknown as Writable);
    return { op, payload: alone, rows: 'rows' in member ? member.rows.length : 1, work: workOf(operations[index]) };
  });
  return { isAtomic, parts };
}

function workOf(operation: ReturnType<typeof batchOf>['operations'][number] | undefined): QueuedWork | ApiError {
  if (operation instanceof ApiError) return operation;
  if (operation === undefined || isDeferred(operation.write)) throw new Error('a queued batch names no results');
  return { target: operation.target, write: operation.write };
}

/** @throws ApiError of the first operation that can never be done, with its index */
export function checkParts({ parts }: QueuedBatch): void {
  parts.forEach(({ work }, index) => {
    if (work instanceof ApiError) throw work.inOperation(index);
  });
}
