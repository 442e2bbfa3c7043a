import SQLite from 'better-sqlite3';

type Method = (this: { readonly source?: string; readonly readonly?: boolean }, ...rest: unknown[]) => unknown;

/** A statement that SQLite is about to run. */
export interface WatchedStatement {
  readonly sql: string;
  /** Values given with it. */
  readonly values: readonly unknown[];
  /** A prepared statement that writes. */
  readonly isWrite: boolean;
}

/** For programs that are preloaded: runs `around` in place of each statement of SQLite; `run` runs it. */
export function watchSql(around: (statement: WatchedStatement, run: () => unknown) => unknown): void {
  const watch = (holder: object, name: 'run' | 'get' | 'all' | 'exec'): void => {
    const original = Reflect.get(holder, name) as Method;
    const watched: Method = function watched(...rest) {
      const sql = this.source ?? String(rest[0]);
      const isWrite = name !== 'exec' && this.readonly === false;
      return around({ sql, values: rest, isWrite }, () => original.apply(this, rest));
    };
    Object.defineProperty(holder, name, { value: watched });
  };
  const db = new SQLite(':memory:');
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as object;
  for (const name of ['run', 'get', 'all'] as const) watch(statement, name);
  watch(SQLite.prototype as object, 'exec');
  db.close();
}
