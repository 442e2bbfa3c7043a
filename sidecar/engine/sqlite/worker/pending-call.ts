import type { BatchQuestion, BatchReply, Call } from './messages.ts';
import type { BookedStatement } from './statement-book.ts';

/** A union without some of its members' properties. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export type CallBody = DistributiveOmit<Call, 'sequence' | 'deadline' | 'budgetMs'>;

/** Replies to what the worker asks; with all statements that the call needs from there on. */
export type TellSteps = (question: BatchQuestion) => {
  readonly steps: BatchReply;
  readonly statements: Iterable<BookedStatement>;
};

/** A call before it is given to a worker. */
export interface PendingCall {
  readonly body: CallBody;
  readonly statements: readonly BookedStatement[];
  /** Known to take its time before it ever ran. */
  readonly isLong: boolean;
  /** Of `performance.now()`. */
  readonly deadline: number;
  /** Of a batch with operations that need ids of earlier ones. */
  readonly tell?: TellSteps;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
