import type { Column } from '#protocol/columns.ts';
import type { SqlDialect } from '../dialect.ts';
import type { Session, SqlParam } from '../session.ts';

/** What the statements of schema changes differ in between PostgreSQL and MySQL. */
export interface SchemaDialect extends Pick<SqlDialect, 'quoted' | 'placeholder' | 'toParam' | 'typed'> {
  /** Type of a column with all that makes its values compare as contract section 4 says, without NOT NULL. */
  typeSql(column: Column): string;
  /** Type of the hidden row id. */
  readonly hiddenIdType: string;
  /** An exact number cut to `scale` fraction digits, as a number that holds every decimal of the contract. */
  cutSql(expression: string, scale: number): string;
  /** With the name of a table as its one `?`: gives a row where the database already has something of that name. */
  readonly takenSql: string;
  /** What stands after the columns of CREATE TABLE. */
  readonly tableOptions: string;
  /** The server tells the generated id of an insert through `RETURNING id`, else through `insertId`. */
  readonly returnsIds: boolean;
}

/** A session in the words of schema changes: in their fixed texts `?` is the place of a parameter on every engine. */
export class SchemaConnection {
  readonly dialect: SchemaDialect;
  readonly session: Session;

  constructor(session: Session, dialect: SchemaDialect) {
    this.session = session;
    this.dialect = dialect;
  }

  /** Rows as arrays of columns in the order of the select list. */
  async rows(text: string, params: readonly SqlParam[] = []): Promise<readonly (readonly unknown[])[]> {
    return (await this.session.query(this.#placed(text), params)).rows;
  }

  /** The same, kept prepared on the connection: for texts that come again and again. */
  async kept(text: string, params: readonly SqlParam[]): Promise<readonly (readonly unknown[])[]> {
    return (await this.session.prepared(this.#placed(text), params)).rows;
  }

  /** The number that the only row of a query has as its only column; 0 without a row. */
  async number(text: string, params: readonly SqlParam[] = []): Promise<number> {
    const [row] = await this.rows(text, params);
    return Number(row?.[0] ?? 0);
  }

  /** Rows that the statement matched. */
  async run(text: string, params: readonly SqlParam[] = []): Promise<number> {
    return (await this.session.query(this.#placed(text), params)).affected;
  }

  /** The generated `id` of one inserted row. */
  async insert(text: string, params: readonly SqlParam[]): Promise<number> {
    if (!this.dialect.returnsIds) return Number((await this.session.query(this.#placed(text), params)).insertId);
    return this.number(`${text} RETURNING id`, params);
  }

  quoted(name: string): string {
    return this.dialect.quoted(name);
  }

  list(names: readonly string[]): string {
    return names.map((name) => this.dialect.quoted(name)).join(', ');
  }

  #placed(text: string): string {
    let position = 0;
    return text.replaceAll('?', () => this.dialect.placeholder(++position));
  }
}
