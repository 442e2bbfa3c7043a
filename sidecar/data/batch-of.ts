import { ApiError } from '#protocol/errors.ts';
import { type Json, parseJson, type Writable, writeJson } from '#protocol/json.ts';
import { type BatchMember, countOf, type PayloadOf } from '#protocol/payloads.ts';
import { writeValue } from '#protocol/values.ts';
import { type Batch, type BatchOperation, isDeferred } from '../engine/batch.ts';
import type { QueuedBatch, QueuedWork } from '../engine/queues.ts';
import type { TableTarget, Write } from '../engine/rows.ts';
import { type ResultReference, withResults } from './batch-references.ts';
import { type WriteContext, writeOf } from './write-of.ts';

/** Each table that the batch names, or the error of an undeclared one. */
export type BatchTables = ReadonlyMap<string, TableTarget | ApiError>;

/** In place of an id that is yet to be generated: ids begin at 1. */
const STAND_IN = 1;

/**
 * Compiles a batch on its tables (contract section 11); each operation means what it means alone. In one that is not
 * atomic an operation that can never be done is its error. `mayRefer`: ids of earlier rows may be named.
 * @throws ApiError with the operation's index
 */
export function batchOf(
  payload: PayloadOf<'batch'>,
  tables: BatchTables,
  context: WriteContext,
  { mayRefer }: { readonly mayRefer: boolean },
): Batch {
  checkRows(payload, context.maxInsertRows);
  return new BatchReader(payload, tables, context, mayRefer).read();
}

/** @throws ApiError `too_many_rows`, in either kind of batch */
function checkRows({ operations }: PayloadOf<'batch'>, maxInsertRows: number): void {
  let rows = 0;
  operations.forEach((operation, index) => {
    if (operation.op === 'insert') rows += operation.rows.length;
    if (rows <= maxInsertRows) return;
    throw new ApiError('too_many_rows', `expected at most ${maxInsertRows} rows in all`).inOperation(index);
  });
}

/** @throws ApiError `invalid_request` if an operation has an `expect` that cannot be kept */
export function checkNoExpect({ operations }: PayloadOf<'batch'>): void {
  operations.forEach(({ expect }, index) => {
    if (expect === undefined) return;
    const message = `operations[${index}].expect: only in an atomic batch that is not buffered`;
    throw new ApiError('invalid_request', message, { index });
  });
}

class BatchReader {
  readonly #payload: PayloadOf<'batch'>;
  readonly #tables: BatchTables;
  readonly #context: WriteContext;
  readonly #isAtomic: boolean;
  readonly #mayRefer: boolean;
  readonly #operations: (BatchOperation | ApiError)[] = [];
  /** The compiled operations, with stand-ins for ids that are not known yet. */
  readonly #trials: (Write | null)[] = [];

  constructor(payload: PayloadOf<'batch'>, tables: BatchTables, context: WriteContext, mayRefer: boolean) {
    this.#payload = payload;
    this.#mayRefer = mayRefer && payload.atomic !== false;
    this.#tables = tables;
    this.#context = context;
    this.#isAtomic = payload.atomic !== false;
  }

  read(): Batch {
    const { namespace, operations } = this.#payload;
    operations.forEach((member, index) => {
      this.#operations.push(this.#operation(member, index));
    });
    return { namespace, isAtomic: this.#isAtomic, operations: this.#operations };
  }

  #operation(member: BatchMember, index: number): BatchOperation | ApiError {
    try {
      return this.#compiled(member, index);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.#isAtomic) throw error.inOperation(index);
      this.#trials.push(null);
      return error;
    }
  }

  #compiled(member: BatchMember, index: number): BatchOperation {
    const target = this.#tables.get(member.table);
    if (target === undefined) throw new Error('a table of the batch was not looked up');
    if (target instanceof ApiError) throw target;
    let after = -1;
    const known = withResults(member, target.table, (reference, path) => {
      const { json, isFinal } = this.#resolved(reference, path, index);
      if (!isFinal) after = Math.max(after, reference.operation);
      return json;
    });
    const trial = this.#write(known, target);
    this.#trials.push(trial);
    const expected = member.expect === undefined ? null : countOf(member.expect.affected);
    if (after < 0) return { target, write: trial, expected };
    const compile = (idsOf: (operation: number) => readonly string[]) => {
      const ofRun = ({ operation, row }: ResultReference): Json => parseJson(idsOf(operation)[row] ?? 'null');
      return this.#write(withResults(member, target.table, ofRun), target);
    };
    return { target, write: { after, compile }, expected };
  }

  #write({ expect: _, op, ...own }: BatchMember, { namespace, table }: TableTarget): Write {
    // The table's rows are what TypeScript cannot follow through a union.
    return writeOf(op, { namespace, ...own } as Parameters<typeof writeOf>[1], table, this.#context);
  }

  /** The id, or a stand-in that suffices for all other checks. @throws ApiError `invalid_value` */
  #resolved({ operation, row }: ResultReference, path: string, index: number): { json: Json; isFinal: boolean } {
    const fault = (message: string) => new ApiError('invalid_value', `${path}: ${message}`);
    if (!this.#mayRefer) throw fault('$result is only in an atomic batch that is not buffered');
    const earlier = this.#operations[operation];
    const trial = this.#trials[operation];
    if (operation >= index || earlier === undefined || earlier instanceof ApiError || trial?.op !== 'insert') {
      throw fault(`operation ${operation} is no insert before this one`);
    }
    const given = trial.rows[row];
    if (given === undefined) throw fault(`operation ${operation} inserts ${trial.rows.length} rows, counted from 0`);
    const { table } = earlier.target;
    const [name, ...others] = table.primaryKey ?? [];
    const column = table.columns.find((candidate) => candidate.name === name);
    if (column === undefined || others.length > 0)
      throw fault(`table ${table.name} has no key of one column, so no ids`);
    const value = given.get(column.name);
    const json = value === undefined ? STAND_IN : parseJson(writeValue(column, value));
    return { json, isFinal: value !== undefined && !isDeferred(earlier.write) };
  }
}

/**
 * Compiles a batch as one entry of a queue, when it is accepted and again when it is applied.
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
