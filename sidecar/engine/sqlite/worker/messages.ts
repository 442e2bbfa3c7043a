import type { LogLevel } from '#engine/log.ts';
import type { DeadLetter, QueueOwner, SlotClaim } from '#engine/queues.ts';
import type { IdempotencySlot } from '#engine/rows.ts';
import type { ApiErrorCode } from '#protocol/errors.ts';
import type { Physical } from '../dialect.ts';
import type { Jobs } from './jobs.ts';

/** How the text of one result column becomes JSON. */
export type OutputKind =
  /** int32, float64. */
  | { readonly as: 'number' }
  /** Text that is valid JSON: json columns, and int64 read as text. */
  | { readonly as: 'raw' }
  | { readonly as: 'bool' }
  | { readonly as: 'string' }
  /** Text that needs no escapes: times and uuids. */
  | { readonly as: 'plain' }
  | { readonly as: 'base64' }
  | { readonly as: 'scaled'; readonly scale: number }
  | { readonly as: 'wide'; readonly precision: number; readonly scale: number }
  /** "high:low" of an integer of any size: high times 2^32 plus low. */
  | { readonly as: 'halves'; readonly scale: number }
  /** A sum of doubles, which may be too large for one. */
  | { readonly as: 'floatSum' };

export interface OutputColumn {
  readonly name: string;
  readonly kind: OutputKind;
}

/** A statement text that calls refer to by number, sent to a worker once. */
export interface StatementDefinition {
  readonly number: number;
  readonly sql: string;
  /** Result columns of a find; empty for other statements. */
  readonly columns: readonly OutputColumn[];
  /** To be run in place of `sql` if SQLite plans it so. */
  readonly indexed?: IndexedSql;
}

/** A find without a look at the deadline in its rows: an index gives exactly the rows of the answer, in their order. */
export interface IndexedSql {
  readonly sql: string;
  /** Number of conditions; the index must take each. */
  readonly terms: number;
}

export interface CallBase {
  /** Number of the call; grows with every call to one worker. */
  readonly sequence: number;
  /** A read that takes longer is ended and answered `overBudget`; null for no limit. */
  readonly budgetMs: number | null;
  /** Time of `monotonicMs`. */
  readonly deadline: number;
}

interface CompiledFor {
  readonly namespace: string;
  readonly revision: number;
}

/** How an aggregate over a whole table is read in ranges of row ids. */
export interface AggregateRanges {
  /** Statement that selects the id after so many rows from an id on. */
  readonly next: number;
  /** Statement that aggregates the rows from one id to another. */
  readonly part: number;
  /** Number of columns of the group, the first of a row. */
  readonly groups: number;
  /** How the values behind them are put together. */
  readonly merges: readonly ('sum' | 'min' | 'max')[];
  readonly sort: readonly { readonly output: number; readonly dir: 'asc' | 'desc' }[];
  readonly offset: number;
}

export interface FindCall extends CallBase, CompiledFor {
  readonly kind: 'find';
  /** Tried first. */
  readonly ranges?: AggregateRanges;
  readonly statement: number;
  /** Statement to run instead if a sum overflows. */
  readonly exact?: number;
  readonly params: readonly Physical[];
  /** The statement selects one row more, to know whether there are more. */
  readonly limit: number;
  /** Rows to read at once; absent for an aggregate. */
  readonly stepRows?: number;
  readonly maxBytes: number;
}

export interface CountCall extends CallBase, CompiledFor {
  readonly kind: 'count';
  readonly statement: number;
  readonly params: readonly Physical[];
}

export interface RecallCall extends CallBase {
  readonly kind: 'recall';
  readonly params: readonly [kid: string, namespace: string, key: string, now: number];
}

export interface PingCall extends CallBase {
  readonly kind: 'ping';
}

export interface JobCall extends CallBase {
  readonly kind: 'job';
  readonly name: keyof Jobs;
  /** Without the bounds at their end. */
  readonly args: readonly unknown[];
}

/** Generator of the ids of a table with an autoIncrement column. */
export interface Generator {
  /** Physical name. */
  readonly table: string;
  readonly maxId: bigint;
  /** Position of the generated column in a row. */
  readonly position: number;
}

export interface InsertWork {
  readonly do: 'insert';
  readonly statement: number;
  /** Values of all rows, one after another: a flat list is cloned faster. */
  readonly values: readonly Physical[];
  /** Number of values of one row. */
  readonly width: number;
  /** JSON texts of the ids if the caller gave all of them; null with a generator, or if the result has no ids. */
  readonly ids: readonly string[] | null;
  readonly generator: Generator | null;
}

/** The statements of a write. */
export type WriteWork =
  | InsertWork
  | {
      readonly do: 'change';
      readonly statement: number;
      readonly params: readonly Physical[];
      /** More than one matching row is a violation: an `inc` of a unique column. */
      readonly isSingleRow: boolean;
    }
  | {
      readonly do: 'upsert';
      /** Updates the row with these keys, or only selects it if there is nothing to update. */
      readonly statement: number;
      readonly params: readonly Physical[];
      readonly insert: number;
      readonly row: readonly Physical[];
      readonly generator: Generator | null;
      /** Rows that count as affected if the row existed. */
      readonly affectedExisting: 0 | 1;
      /** Why the row cannot be inserted, if so. */
      readonly insertFault: Refusal | null;
    };

/** A compiled operation of a batch. */
export interface BatchStep {
  readonly work: WriteWork;
  /** Rows that it must match or insert; null for any number. */
  readonly expected: number | null;
}

export interface BatchWork {
  readonly do: 'batch';
  readonly isAtomic: boolean;
  /** Null for an operation that needs ids of earlier ones: the worker asks for it when it reaches it. */
  readonly steps: readonly (BatchStep | Refusal | null)[];
}

/** A worker's question in the middle of a batch: the next operation, and the results of the operations before it. */
export interface BatchQuestion {
  readonly operation: number;
  /** JSON texts. */
  readonly results: readonly string[];
}

/** Steps by their places, with at least the step of the operation in question. */
export type BatchReply = readonly (readonly [place: number, step: BatchStep | Refusal])[];

export interface WriteCall extends CallBase, CompiledFor {
  readonly kind: 'write';
  readonly work: WriteWork | BatchWork;
  readonly slot: IdempotencySlot | null;
}

/** A write of a queue, compiled for a revision of its namespace's schema. */
export interface QueueWork {
  readonly namespace: string;
  readonly revision: number;
  readonly work: WriteWork | BatchWork;
}

/** An entry of a queue, with the dead letter that it becomes if it can never be done. */
export interface QueueStep {
  readonly position: number;
  readonly letter: Omit<DeadLetter, 'code' | 'message' | 'isRetryWanted'>;
  /** Id of the dead letter that the entry retries, or null. */
  readonly retried: string | null;
  readonly claim: SlotClaim | null;
  readonly work: QueueWork | Refusal;
}

export interface Refusal {
  readonly code: ApiErrorCode;
  readonly message: string;
}

/** A batch of a queue, in one transaction with the position of its last entry. */
export interface ApplyCall extends CallBase {
  readonly kind: 'apply';
  readonly owner: QueueOwner;
  readonly first: number;
  readonly last: number;
  readonly knownTo: number;
  readonly batch: /** Nothing is applied where one of them is refused, or has been applied before. */
    | { readonly mode: 'whole'; readonly works: readonly QueueWork[]; readonly claims: readonly SlotClaim[] }
    | { readonly mode: 'each'; readonly steps: readonly QueueStep[] };
}

export type ApplyAnswer =
  /** Dead letters made of refused entries. */
  | { readonly outcome: 'applied'; readonly letters: readonly DeadLetter[] }
  /** The place has another token, or is not there. */
  | { readonly outcome: 'lost' }
  /** The queue's position is beyond `knownTo`. */
  | { readonly outcome: 'moved' }
  /** Nothing was applied: apply the batch entry by entry. */
  | { readonly outcome: 'refused' };

/** Forgets idempotency records that expired before `now`, epoch milliseconds. */
export interface PurgeCall extends CallBase {
  readonly kind: 'purge';
  readonly now: number;
}

export type ReadCall = FindCall | CountCall | RecallCall | PingCall | JobCall;
export type WriterCall = WriteCall | ApplyCall | PurgeCall | PingCall | JobCall;
export type Call = ReadCall | WriterCall;

export interface Batch {
  readonly definitions: readonly StatementDefinition[];
  readonly calls: readonly unknown[];
}

export type Failure =
  | {
      readonly kind: 'api';
      readonly code: ApiErrorCode;
      readonly message: string;
      readonly index?: number | undefined;
      readonly isDiskFull?: true;
    }
  | { readonly kind: 'stale'; readonly namespace: string }
  /** Ended to let other reads run; a slower lane runs it again. */
  | { readonly kind: 'overBudget' };

export interface Answer {
  readonly sequence: number;
  readonly value: unknown;
  readonly failure: Failure | null;
  readonly ranMs: number;
}

export interface WorkerLog {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly isDiskFull: boolean;
}

export type FromWorker =
  /** In the middle of a batch; the worker waits for the reply. */
  | ({ readonly type: 'ask'; readonly sequence: number } & BatchQuestion)
  /** `commits` is the number of data transactions of these answers. `packed.ts` writes them, and the calls of a `Batch`. */
  | { readonly type: 'answers'; readonly answers: readonly unknown[]; readonly commits: number }
  | { readonly type: 'log'; readonly log: WorkerLog }
  /** After the first attempt to open the file. `unusable` is the reason if the file must not be used at all. */
  | { readonly type: 'opened'; readonly unusable: string | null }
  | { readonly type: 'closed' };

export interface Told {
  readonly type: 'told';
  readonly sequence: number;
  readonly definitions: readonly StatementDefinition[];
  readonly steps: BatchReply;
}

export type ToWorker = ({ readonly type: 'batch' } & Batch) | Told | { readonly type: 'close' };

export interface WorkerSettings {
  readonly role: 'writer' | 'reader';
  readonly file: string;
  readonly leavesCheckpoints: boolean;
  /** Runs at low priority: uses the processor only when it is idle. */
  readonly isBackground: boolean;
  /** A 64-bit integer: sequence of the call that the worker started last, published before it checks the deadline. */
  readonly started: SharedArrayBuffer;
}
