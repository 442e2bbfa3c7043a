import type { IdempotencySlot } from '#engine/rows.ts';
import type { Physical } from '../dialect.ts';
import type {
  Answer,
  BatchStep,
  BatchWork,
  Call,
  CallBase,
  Failure,
  Generator,
  Refusal,
  WriteCall,
  WriteWork,
} from './messages.ts';
import type { CallBody } from './pending-call.ts';

/**
 * Calls, or answers, as one flat list of values: a clone of an object brings the names of its properties each time, and for a
 * write they cost more than its values.
 */
export type Packed = readonly unknown[];

/** First value of a call or of an operation. */
const TAG = { call: 0, write: 1, insert: 2, change: 3, upsert: 4, batch: 5, later: 6, refused: 7 } as const;

export function packCall(body: CallBody, base: CallBase, packed: unknown[]): void {
  if (body.kind !== 'write') {
    packed.push(TAG.call, { ...body, ...base });
    return;
  }
  const { namespace, revision, slot, work } = body;
  packed.push(TAG.write, base.sequence, base.deadline, namespace, revision, slot);
  if (work.do === 'batch') packBatch(work, packed);
  else packWork(work, packed);
}

function packBatch({ isAtomic, steps }: BatchWork, packed: unknown[]): void {
  packed.push(TAG.batch, isAtomic, steps.length);
  for (const step of steps) {
    if (step === null) packed.push(TAG.later);
    else if (!('work' in step)) packed.push(TAG.refused, step);
    else {
      packWork(step.work, packed);
      packed.push(step.expected);
    }
  }
}

function packWork(work: WriteWork, packed: unknown[]): void {
  if (work.do === 'upsert') {
    packed.push(TAG.upsert, work);
    return;
  }
  if (work.do === 'insert') packed.push(TAG.insert, work.statement, work.width, work.ids, work.generator);
  else packed.push(TAG.change, work.statement, work.isSingleRow);
  const values = work.do === 'insert' ? work.values : work.params;
  packed.push(values.length);
  // A call with all of them as arguments would overflow the stack.
  for (const value of values) packed.push(value);
}

export function unpackCalls(packed: Packed): Call[] {
  const reader = new PackedReader(packed);
  const calls: Call[] = [];
  while (!reader.isAtEnd) calls.push(reader.next() === TAG.call ? (reader.next() as Call) : writeCall(reader));
  return calls;
}

function writeCall(reader: PackedReader): WriteCall {
  return {
    kind: 'write',
    sequence: reader.next() as number,
    deadline: reader.next() as number,
    budgetMs: null,
    namespace: reader.next() as string,
    revision: reader.next() as number,
    slot: reader.next() as IdempotencySlot | null,
    work: workOf(reader, reader.next()),
  };
}

function workOf(reader: PackedReader, tag: unknown): WriteWork | BatchWork {
  if (tag !== TAG.batch) return singleWork(reader, tag);
  const isAtomic = reader.next() as boolean;
  const count = reader.next() as number;
  const steps: (BatchStep | Refusal | null)[] = [];
  while (steps.length < count) steps.push(stepOf(reader, reader.next()));
  return { do: 'batch', isAtomic, steps };
}

function stepOf(reader: PackedReader, tag: unknown): BatchStep | Refusal | null {
  if (tag === TAG.later) return null;
  if (tag === TAG.refused) return reader.next() as Refusal;
  return { work: singleWork(reader, tag), expected: reader.next() as number | null };
}

function singleWork(reader: PackedReader, tag: unknown): WriteWork {
  if (tag === TAG.upsert) return reader.next() as WriteWork;
  const statement = reader.next() as number;
  if (tag === TAG.change) {
    return { do: 'change', statement, isSingleRow: reader.next() as boolean, params: reader.list() };
  }
  return {
    do: 'insert',
    statement,
    width: reader.next() as number,
    ids: reader.next() as readonly string[] | null,
    generator: reader.next() as Generator | null,
    values: reader.list(),
  };
}

/** This program has packed the values from the very types that they are read as. */
class PackedReader {
  readonly #values: Packed;
  #at = 0;

  constructor(values: Packed) {
    this.#values = values;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#values.length;
  }

  next(): unknown {
    this.#at += 1;
    return this.#values[this.#at - 1];
  }

  /** Values after their number. */
  list(): readonly Physical[] {
    const begin = this.#at + 1;
    this.#at = begin + (this.#values[this.#at] as number);
    return this.#values.slice(begin, this.#at) as Physical[];
  }
}

export function packAnswers(answers: readonly Answer[]): Packed {
  const packed: unknown[] = [];
  for (const { sequence, value, failure, ranMs } of answers) packed.push(sequence, value, failure, ranMs);
  return packed;
}

export function unpackAnswers(packed: Packed): Answer[] {
  const reader = new PackedReader(packed);
  const answers: Answer[] = [];
  while (!reader.isAtEnd) {
    answers.push({
      sequence: reader.next() as number,
      value: reader.next(),
      failure: reader.next() as Failure | null,
      ranMs: reader.next() as number,
    });
  }
  return answers;
}
