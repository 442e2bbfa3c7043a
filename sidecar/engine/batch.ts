import { ApiError } from '#protocol/errors.ts';
import type { TableTarget, Write } from './rows.ts';

/** JSON texts of the ids that an insert of the batch gave, by the insert's index. */
export type IdsOf = (operation: number) => readonly string[];

/** A write that names ids which an earlier operation generates. */
export interface DeferredWrite {
  /** The last operation that it names. */
  readonly after: number;
  /** The same for the same ids, called maybe more than once. @throws ApiError */
  compile(idsOf: IdsOf): Write;
}

export interface BatchOperation {
  readonly target: TableTarget;
  readonly write: Write | DeferredWrite;
  /** Rows that it must match, or insert; null where any number will do. */
  readonly expected: number | null;
}

/** Several writes of one call (contract section 11). */
export interface Batch {
  readonly namespace: string;
  /** All or nothing; else each for itself, in order. */
  readonly isAtomic: boolean;
  /** An error stands for what can never be done, only where `isAtomic` is false. */
  readonly operations: readonly (BatchOperation | ApiError)[];
}

export function isDeferred(write: Write | DeferredWrite): write is DeferredWrite {
  return 'compile' in write;
}

/** By whose table the schema is told; there is at least one that can be done. */
export function targetOf({ operations }: Batch): TableTarget {
  for (const operation of operations) if (!(operation instanceof ApiError)) return operation.target;
  throw new Error('a batch of which nothing can be done');
}

/** @throws ApiError */
export function writeIn({ write }: BatchOperation, idsOf: IdsOf): Write {
  return isDeferred(write) ? write.compile(idsOf) : write;
}

/** Of a batch, from those of its operations: JSON texts. */
export function batchResult(results: readonly string[]): string {
  return `{"results":[${results.join(',')}]}`;
}

/** In place of an operation's result. */
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
  // Texts are quoted and may hold anything; of integers there may be many, and they need no parser.
  if (!list.includes('"')) return list === '' ? [] : list.split(',');
  return (JSON.parse(`[${list}]`) as string[]).map((id) => JSON.stringify(id));
}
