import type { PhysicalIndex } from '#engine/model/physical-indexes.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { SchemaChange } from '#engine/schema-calls.ts';
import type { Column } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import type { SqlDialect } from '../dialect.ts';
import type { Session, SqlParam } from '../session.ts';

/** Differences between SQLite, PostgreSQL and MySQL in statements on system tables and in the checks of a schema change. */
export interface SchemaDialect extends Pick<SqlDialect, 'quoted' | 'placeholder' | 'toParam' | 'typed'> {
  /** Name of a declared table in the database. */
  physicalTable(namespace: string, table: string): string;
  /** Type of a column with all that makes its values compare as contract section 4 says, without NOT NULL. */
  typeSql(column: Column): string;
  /** Type of the hidden row id. */
  readonly hiddenIdType: string;
  /**
   * First condition of a statement that may visit many rows, with its AND: ends the statement at the deadline. Empty if
   * a session cancels its statements.
   */
  readonly guardSql: string;
  /** Condition that holds for a value, never NULL, that does not fit another column; both exact numbers, or both text. */
  misfitSql(from: Column, to: Column): string;
  /** The names that the database already has for something. Null if it holds no tables of other programs. */
  readonly takenNames:
    | ((connection: SchemaConnection, names: readonly string[]) => Promise<ReadonlySet<string>>)
    | null;
  /** End of a SELECT whose rows stay as they are until the transaction ends; empty if nothing else writes meanwhile. */
  readonly lockRowsSql: string;
  /** Epoch milliseconds by the clock of the database. */
  readonly nowMsSql: string;
  /** End of an INSERT that leaves a row alone if it has the same values in the columns of this key. */
  keepSql(...key: readonly string[]): string;
  /** End of CREATE TABLE, after the columns. */
  readonly tableOptions: string;
  /** The database returns the generated id of an insert through `RETURNING id`, else through `insertId`. */
  readonly returnsIds: boolean;
}

/**
 * Differences between SQLite and PostgreSQL in a schema change, which both do in one transaction
 * (`Capabilities.transactionalSchema`); the shared code is `apply.ts` and `restore.ts`.
 */
export interface TransactionalDialect extends SchemaDialect {
  /** Runs the work within the time limits of a change, and explains a failure if others are in its way. */
  withinLimits<T>(connection: ChangeConnection, namespace: string, work: () => Promise<T>): Promise<T>;
  /** Before rows are checked: keeps others away from the tables of the change until the transaction ends. */
  lockTables(connection: ChangeConnection, change: SchemaChange, from: readonly Table[]): Promise<void>;

  /** With its key and its generator; other indexes are made by themselves. */
  createTableSql(physical: string, table: Table): string;
  /** Statements that rename a table with its key and its generator. */
  renameTableSql(table: Table, from: string, to: string): readonly string[];
  createIndexSql(physical: string, table: Table, index: PhysicalIndex): string;
  /** Brings a table that stays, and whose rows are known to fit, to its declared form. */
  changeTable(connection: ChangeConnection, namespace: string, change: TableTransition, now: number): Promise<void>;

  /** The highest id that the table's generator ever gave, 0 for none. */
  lastId(connection: SchemaConnection, physical: string): Promise<bigint>;
  /** Never lowers it. */
  raiseLastId(connection: SchemaConnection, physical: string, last: bigint): Promise<void>;
  /** Expression for a random UUID, another one in each row. */
  readonly randomSql: string;
}

export type ChangeConnection = SchemaConnection<TransactionalDialect>;

/** A session in the words of schema changes: in their fixed texts `?` is the place of a parameter on every engine. */
export class SchemaConnection<Dialect extends SchemaDialect = SchemaDialect> {
  readonly dialect: Dialect;
  readonly session: Session;

  constructor(session: Session, dialect: Dialect) {
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

  physicalTable(namespace: string, table: string): string {
    return this.dialect.physicalTable(namespace, table);
  }

  #placed(text: string): string {
    let position = 0;
    return text.replaceAll('?', () => this.dialect.placeholder(++position));
  }
}
