import { ApiError } from '#protocol/errors.ts';
import type { TableTarget, Write } from './rows.ts';

/** Ids that an insert of the batch generated, as JSON texts, by the index of the insert. */
export type IdsOf = (operation: number) => readonly string[];

/** A write that names ids of an earlier operation. */
export interface DeferredWrite {
  /** Index of the last operation that it names. */
  readonly after: number;
  /** Pure: the same ids make the same write. May be called more than once. @throws ApiError */
  compile(idsOf: IdsOf): Write;
}

export interface BatchOperation {
  readonly target: TableTarget;
  readonly write: Write | DeferredWrite;
  /** Rows that it must match or insert; null if any number will do. */
  readonly expected: number | null;
}

/** Several writes of one call (contract section 11). */
export interface Batch {
  readonly namespace: string;
  /** All operations or none; else each by itself, in order. */
  readonly isAtomic: boolean;
  /** An error stands for an operation that can never be done; only if `isAtomic` is false. */
  readonly operations: readonly (BatchOperation | ApiError)[];
}

export function isDeferred(write: Write | DeferredWrite): write is DeferredWrite {
  return 'compile' in write;
}

/** Target of the first operation that can be done; a batch has at least one. */
export function targetOf({ operations }: Batch): TableTarget {
  for (const operation of operations) if (!(operation instanceof ApiError)) return operation.target;
  throw new Error('a batch of which nothing can be done');
}

/** @throws ApiError */
export function writeIn({ write }: BatchOperation, idsOf: IdsOf): Write {
  return isDeferred(write) ? write.compile(idsOf) : write;
}

/** JSON text of a batch's result, from those of its operations. */
export function batchResult(results: readonly string[]): string {
  return `{"results":[${results.join(',')}]}`;
}

/** JSON text in place of the result of an operation that failed. */
export function failedResult({ code, message }: Pick<ApiError, 'code' | 'message'>): string {
  return JSON.stringify({ error: { code, message } });
}

const COUNT = /^\{"(?:affected|inserted)":(\d+)/;

/** @param result JSON text of an operation's result @throws ApiError `expectation_failed` */
export function checkExpected(result: string, expected: number | null): void {
  if (expected === null) return;
  const count = Number(COUNT.exec(result)?.[1]);
  if (count === expected) return;
  throw new ApiError('expectation_failed', `expect.affected is ${expected}, but it was ${count}; nothing was changed`);
}

const IDS = /"ids":\[(.*)\]\}$/s;

/** JSON texts of the ids in an insert's result. */
export function idsIn(result: string): readonly string[] {
  const list = IDS.exec(result)?.[1] ?? '';
  // Quoted texts need a parser, as they may hold anything. A long list of integers needs none.
  if (!list.includes('"')) return list === '' ? [] : list.split(',');
  return (JSON.parse(`[${list}]`) as string[]).map((id) => JSON.stringify(id));
}
