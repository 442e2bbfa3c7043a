import { Client, type QueryArrayResult } from 'pg';
import type { Engine, EngineOptions } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { SchemaCalls, StoredSchema } from '#engine/schema-calls.ts';
import type { Session, Sessions, SqlParam, SqlResult } from '#engine/sql/session.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { planSchema, type RemovedMode } from '#sidecar/schema/plan.ts';
import { type FreshDatabase, freshDatabase } from '#support/databases.ts';

export function within(ms: number): CallBounds {
  return { deadline: performance.now() + ms };
}

/** A database of its own, and a connection past everything that is tested. */
export interface PostgresWorld extends FreshDatabase {
  readonly client: Client;
  /** The first column of every row, as text. */
  column(text: string): Promise<string[]>;
  /** Engines are closed with the world. */
  open(options?: Partial<Pick<EngineOptions, 'now' | 'expiryNow' | 'purgeIntervalMs'>>): Promise<Engine>;
}

export async function postgresWorld(): Promise<PostgresWorld> {
  const { url, drop } = await freshDatabase('postgres', process.env.TEST_POSTGRES_URL ?? '');
  const client = await connect(url);
  const engines: Engine[] = [];
  return {
    url,
    client,
    async column(text) {
      const { rows } = await client.query({ text, rowMode: 'array' });
      return (rows as unknown[][]).map((row) => String(row[0]));
    },
    async open({ now = Date.now, ...options } = {}) {
      const settings = { provider: 'postgres', url, poolSize: 4, statementTimeoutMs: 4000 } as const;
      const engine = await openEngine(settings, { log: () => {}, now, ...options });
      engines.push(engine);
      return engine;
    },
    async drop() {
      for (const engine of engines) await engine.close();
      await client.end();
      await drop();
    },
  };
}

/** As somebody else would: of what the account has set nothing but its time limits is changed. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: '-c statement_timeout=30000 -c lock_timeout=0' });
  // A server that drops the database ends what is left.
  client.on('error', () => {});
  await client.connect();
  return client;
}

export interface Declaration {
  readonly tables: readonly object[];
}

export interface SyncedEngine {
  readonly schemas: Pick<SchemaCalls, 'readSchema' | 'applySchema'>;
}

/** A `schema.sync` on an engine, without locks and gates. */
export async function sync(
  engine: SyncedEngine,
  namespace: string,
  declaration: Declaration,
  { removed = 'quarantine', dryRun = false }: { removed?: RemovedMode; dryRun?: boolean } = {},
): Promise<StoredSchema | null> {
  const { schema, renames } = parseSchema(parseJson(JSON.stringify(declaration)));
  const from = await engine.schemas.readSchema(namespace, within(5000));
  const { steps, unsupported } = planSchema(from?.schema ?? null, schema, renames, removed);
  if (unsupported.length > 0) throw new Error(unsupported.join('; '));
  const change = { namespace, from, to: schema, hash: schemaHash(schema), steps, dryRun, now: Date.now() };
  await engine.schemas.applySchema(change, within(20_000));
  return engine.schemas.readSchema(namespace, within(5000));
}

/** End of a process at one of its statements, `BEGIN` and `COMMIT` included. */
export interface Crash {
  /** The number of the statement, from 1. */
  readonly at: number;
  /** Whether the server still gets it, and only the answer is lost. */
  readonly isSent: boolean;
}

/** Sessions of a process that may end at a statement: its connection is gone then. */
export class CrashingSessions implements Sessions {
  readonly statements: string[] = [];
  readonly #url: string;
  readonly #crash: Crash | null;

  constructor(url: string, crash: Crash | null = null) {
    this.#url = url;
    this.#crash = crash;
  }

  read<T>(bounds: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    return this.write(bounds, work);
  }

  async write<T>({ deadline }: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    const client = await connect(this.#url);
    const query = (text: string, params?: readonly SqlParam[]) => this.#query(client, text, params);
    try {
      return await work({
        deadline,
        query,
        prepared: query,
        stream: () => Promise.reject(new Error('not in schemas')),
      });
    } finally {
      await client.end().catch(() => {});
    }
  }

  transaction<T>(bounds: CallBounds, work: (session: Session) => Promise<T>): Promise<T> {
    return this.write(bounds, async (session) => {
      await session.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const result = await work(session);
      await session.query('COMMIT');
      return result;
    });
  }

  async #query(client: Client, text: string, params: readonly SqlParam[] = []): Promise<SqlResult> {
    this.statements.push(text);
    const isLast = this.statements.length === this.#crash?.at;
    if (!isLast || this.#crash?.isSent === true) {
      const result = await answer(client, text, params);
      if (!isLast) return result;
    }
    throw new Error('the process is gone');
  }
}

async function answer(client: Client, text: string, params: readonly SqlParam[]): Promise<SqlResult> {
  const query = { text, values: params.map((param) => (typeof param === 'bigint' ? String(param) : param)) };
  const types = { getTypeParser: () => (value: string) => value };
  const result: QueryArrayResult = await client.query({ ...query, rowMode: 'array', types });
  return { rows: result.rows, affected: result.rowCount ?? 0, insertId: null };
}
