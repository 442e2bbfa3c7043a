import { type CallBounds, OWN_CALLS, type TableTarget } from '../../rows.ts';
import type { BatchQuestion, BatchReply, Call, IndexedSql, OutputColumn, StatementDefinition } from './messages.ts';

/** A union without some of its members' properties. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export type CallBody = DistributiveOmit<Call, 'sequence' | 'deadline' | 'budgetMs'>;

/** Answers a worker's question, with all statements that the rest of the call needs. */
export type TellSteps = (question: BatchQuestion) => {
  readonly steps: BatchReply;
  readonly statements: Iterable<BookedStatement>;
};

/** A call before it is sent to a worker. */
export interface PendingCall {
  readonly body: CallBody;
  readonly statements: readonly BookedStatement[];
  /** Expected to be slow even if it never ran. */
  readonly isLong: boolean;
  /** Time of `performance.now()`. */
  readonly deadline: number;
  /** Slow reads of several callers run by turns. */
  readonly caller: string;
  /** For a batch with operations that need ids of earlier ones. */
  readonly tell?: TellSteps;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A call as the engine makes it: its promise comes with the queue that takes it. */
export type NewCall = Omit<PendingCall, 'resolve' | 'reject'>;

export function newCall(
  body: CallBody,
  { deadline, caller = OWN_CALLS }: CallBounds,
  statements: readonly BookedStatement[] = [],
): NewCall {
  return { body, statements, deadline, caller, isLong: false };
}

/** A full book starts again from empty: callers choose the shapes of statements, which must not fill the memory. */
const MAX_STATEMENTS = 400;

/** A statement as the API's thread knows it. */
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

  /** A text may stand for other columns after the schema has changed. */
  get(
    { namespace, revision }: TableTarget,
    sql: string,
    columns: readonly OutputColumn[],
    indexed: IndexedSql | null,
  ): BookedStatement {
    const key = `${namespace}:${revision}:${indexed === null ? '' : 'indexed:'}${sql}`;
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      const definition = { number: this.#next++, sql, columns, ...(indexed === null ? {} : { indexed }) };
      statement = { ...definition, knownBy: new Set(), costMs: null };
      this.#statements.set(key, statement);
    }
    return statement;
  }
}

/** The statements of one call. */
export class CallStatements {
  readonly #book: StatementBook;
  readonly #used = new Set<BookedStatement>();

  constructor(book: StatementBook) {
    this.#book = book;
  }

  get used(): readonly BookedStatement[] {
    return [...this.#used];
  }

  numberOf(
    target: TableTarget,
    sql: string,
    columns: readonly OutputColumn[] = [],
    indexed: IndexedSql | null = null,
  ): number {
    const statement = this.#book.get(target, sql, columns, indexed);
    this.#used.add(statement);
    return statement.number;
  }
}
