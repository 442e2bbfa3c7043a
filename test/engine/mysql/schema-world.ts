import { type Connection, createConnection, type ResultSetHeader } from 'mysql2/promise';
import { Leases } from '#engine/cluster/leases.ts';
import { createSchemaCalls } from '#engine/mysql/schema/calls.ts';
import { schemaDialect } from '#engine/mysql/schema/dialect.ts';
import { prepareSystemTables } from '#engine/mysql/system-tables.ts';
import { type CallBounds, StaleSchemaError } from '#engine/rows.ts';
import type { SchemaCalls, StoredSchema } from '#engine/schema-calls.ts';
import { createClusterCalls } from '#engine/sql/cluster.ts';
import type { Session, Sessions, SqlParam, SqlResult } from '#engine/sql/session.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { planSchema, type RemovedMode } from '#sidecar/schema/plan.ts';
import { type FreshDatabase, freshDatabase } from '#support/databases.ts';

export function within(ms: number): CallBounds {
  return { deadline: performance.now() + ms };
}

/** Sessions of a process that may end at a statement: its connection is gone then, and nothing of it runs on. */
export class CrashingSessions implements Sessions {
  readonly statements: string[] = [];
  readonly #url: string;
  /** Work of others right before a statement is sent. */
  before: (text: string) => Promise<unknown> = () => Promise.resolve();
  readonly #crashAt: number;

  /** `crashAt` is the position, from 0, of the first statement that never reaches the server. */
  constructor(url: string, crashAt = Infinity) {
    this.#url = url;
    this.#crashAt = crashAt;
  }

  get hasCrashed(): boolean {
    return this.statements.length > this.#crashAt;
  }

  read<T>(bounds: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    return this.write(bounds, work);
  }

  async write<T>({ deadline }: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    const connection = await connect(this.#url);
    const query = (text: string, params?: readonly SqlParam[]) => this.#query(connection, text, params);
    try {
      return await work({
        deadline,
        query,
        prepared: query,
        stream: () => Promise.reject(new Error('not of schemas')),
      });
    } finally {
      connection.destroy();
    }
  }

  transaction<T>(bounds: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    return this.write(bounds, async (session) => {
      await session.query('START TRANSACTION');
      const result = await work(session);
      await session.query('COMMIT');
      return result;
    });
  }

  async #query(connection: Connection, text: string, params: readonly SqlParam[] = []): Promise<SqlResult> {
    if (this.hasCrashed) throw new Error('the process is gone');
    this.statements.push(text);
    await this.before(text);
    if (!this.hasCrashed) return run(connection, text, params);
    connection.destroy();
    throw Object.assign(new Error('the connection is lost'), { code: 'PROTOCOL_CONNECTION_LOST' });
  }
}

async function run(connection: Connection, text: string, params: readonly SqlParam[]): Promise<SqlResult> {
  const [result] = await connection.query({ sql: text, rowsAsArray: true }, [...params]);
  if (Array.isArray(result)) return { rows: result as unknown[][], affected: result.length, insertId: null };
  const { affectedRows, insertId } = result as ResultSetHeader;
  return { rows: [], affected: affectedRows, insertId: BigInt(insertId) };
}

async function connect(url: string): Promise<Connection> {
  const connection = await createConnection({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
  await connection.query(
    `SET SESSION sql_mode = 'STRICT_ALL_TABLES', autocommit = 1, time_zone = '+00:00',
    auto_increment_increment = 1, auto_increment_offset = 1, innodb_lock_wait_timeout = 1,
    tx_isolation = 'READ-COMMITTED'`,
  );
  return connection;
}

export interface SchemaWorld extends FreshDatabase {
  /** Straight to the server, past everything that is tested. */
  sql(text: string, params?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Calls of the sidecar `me`, which goes on where it has died, or of another one. */
  calls(sessions?: Sessions, instance?: string): SchemaCalls;
  connect(): Promise<Connection>;
}

export async function schemaWorld(): Promise<SchemaWorld> {
  const database = await freshDatabase('mysql', process.env.TEST_MYSQL_URL ?? '');
  const connection = await connect(database.url);
  await new CrashingSessions(database.url).write(within(10_000), (session) => prepareSystemTables(session, 'mariadb'));
  return {
    url: database.url,
    async drop() {
      await connection.end();
      await database.drop();
    },
    async sql(text, params = []) {
      const [rows] = await connection.query(text, [...params]);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    connect: () => connect(database.url),
    calls: (sessions = new CrashingSessions(database.url), instance = 'me') => {
      const leases = leasesOn(database.url, instance);
      return createSchemaCalls({ sessions, leases, flavour: () => 'mariadb', log: () => {} }).schemas;
    },
  };
}

function leasesOn(url: string, instance: string): Leases {
  const cluster = createClusterCalls(new CrashingSessions(url), () => schemaDialect('mariadb'));
  return new Leases(cluster, { instance: () => instance, now: Date.now, log: () => {} });
}

/** A few at a time: the server waits for its disk most of the time. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

/** Positions of the statements before which a process may die: after one that only reads all is as before it. */
export function deathsOf({ statements }: CrashingSessions): number[] {
  return statements.flatMap((text, at) => (/^(SELECT|SHOW|SET) /.test(text) ? [] : [at]));
}

export interface Declaration {
  readonly tables: readonly object[];
}

/** A `schema.sync` on an engine, without locks and gates. */
export async function sync(
  calls: Pick<SchemaCalls, 'readSchema' | 'applySchema'>,
  namespace: string,
  declaration: Declaration,
  removed: RemovedMode = 'quarantine',
): Promise<StoredSchema | null> {
  const { schema, renames } = parseSchema(JSON.parse(JSON.stringify(declaration)));
  const hash = schemaHash(schema);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const from = await calls.readSchema(namespace, within(20_000));
    if (from !== null && from.isUnfinished !== true && from.hash === hash) return from;
    const { steps } = planSchema(from?.schema ?? null, schema, renames, removed);
    try {
      const now = Date.now();
      await calls.applySchema({ namespace, from, to: schema, hash, steps, dryRun: false, now }, within(20_000));
    } catch (error) {
      if (!(error instanceof StaleSchemaError)) throw error;
    }
  }
  throw new Error('a sync does not come to an end');
}
