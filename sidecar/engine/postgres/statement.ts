import type pg from 'pg';
import type { SqlParam, SqlResult } from '../sql/session.ts';

/** The driver's connection, by properties that its declarations lack or have otherwise. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** Text of each statement that the server has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(values: {
    readonly statement: string;
    readonly values: readonly SqlParam[];
    readonly valueMapper: (param: SqlParam) => string | Buffer | null;
  }): void;
  execute(limits: { readonly rows: number }): void;
  sync(): void;
}

interface StatementParts {
  readonly text: string;
  /** Under which the server keeps it prepared; empty if it does not. */
  readonly name: string;
  readonly params: readonly SqlParam[];
  readonly done: (result: SqlResult) => void;
  readonly failed: (error: Error) => void;
}

/**
 * A statement with parameters, as a query that the driver runs. Its own asks the server to describe the rows each time and
 * builds parsers from that, which costs both sides more than the rows of most calls: here every value is text.
 */
export class Statement implements pg.Submittable {
  /** Text and name are read by the driver, too. */
  readonly text: string;
  readonly name: string;
  readonly #parts: StatementParts;
  readonly #rows: (readonly (string | null)[])[] = [];
  #affected = 0;

  constructor(parts: StatementParts) {
    this.text = parts.text;
    this.name = parts.name;
    this.#parts = parts;
  }

  /** Called by the driver at its turn, as are all that follow. */
  submit(connection: pg.Connection): null {
    const wire = connection as unknown as Wire;
    const { name, text } = this;
    wire.stream.cork();
    try {
      if (name === '' || wire.parsedStatements[name] === undefined) wire.parse({ name, text });
      wire.bind({ statement: name, values: this.#parts.params, valueMapper: wireForm });
      wire.execute({ rows: 0 });
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(fields);
  }

  /** The tag of the command ends with the number of rows if it has one: `INSERT 0 5`, `UPDATE 5`, `CREATE TABLE`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#affected = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0;
  }

  handleReadyForQuery(): void {
    this.#parts.done({ rows: this.#rows, affected: this.#affected, insertId: null });
  }

  handleError(error: Error): void {
    this.#parts.failed(error);
  }

  handleEmptyQuery(): void {}
}

function wireForm(param: SqlParam): string | Buffer | null {
  if (param === null) return null;
  return typeof param === 'object' ? Buffer.from(param.buffer, param.byteOffset, param.byteLength) : String(param);
}
