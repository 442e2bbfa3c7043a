/** `database` of sidecar.json, paths made absolute, the URL read. */
export type DatabaseSettings = SqliteSettings | ServerSettings;

export interface SqliteSettings {
  readonly provider: 'sqlite';
  /** Absolute. */
  readonly file: string;
  /** Threads: one writes, the others read. */
  readonly poolSize: number;
}

export interface ServerSettings {
  readonly provider: 'postgres' | 'mysql' | 'mongodb';
  /** With account and password: never in a log or an error. */
  readonly url: string;
  /** Connections. */
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
}
