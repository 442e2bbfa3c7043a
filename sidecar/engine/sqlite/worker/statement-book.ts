import type { OutputColumn, StatementDefinition } from './messages.ts';

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
