import type { BatchQuestion, BatchReply, Call, OutputColumn, StatementDefinition } from './messages.ts';

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

/** Beyond this many the book begins anew: shapes of statements come from callers, and must not fill the memory. */
const MAX_STATEMENTS = 400;

/** What the API's thread knows of a statement. */
export interface BookedStatement extends StatementDefinition {
  /** Numbers of the workers' links that have it. */
  readonly knownBy: Set<number>;
  /** Expected time of a run; null before the first one. */
  costMs: number | null;
}

/** Every statement text gets a number, under which a worker keeps it prepared. */
export class StatementBook {
  readonly #statements = new Map<string, BookedStatement>();
  #next = 1;

  /**
   * @param scope what else the columns depend on beside the text: the namespace and revision of the schema
   */
  get(scope: string, sql: string, columns: readonly OutputColumn[]): BookedStatement {
    const key = `${scope}${sql}`;
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      statement = { number: this.#next++, sql, columns, knownBy: new Set(), costMs: null };
      this.#statements.set(key, statement);
    }
    return statement;
  }
}
