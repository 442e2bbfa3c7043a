import { randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { parseFilter } from '../../../db_connector/protocol/filter.ts';
import { parseJson } from '../../../db_connector/protocol/json.ts';
import type { JsonObject } from '../../../db_connector/protocol/json-value.ts';
import { parseSchema, schemaHash } from '../../../db_connector/protocol/schema.ts';
import type { Engine, FindQuery, IdempotencySlot, Row, TableTarget } from '../../../sidecar/engine/engine.ts';
import { openEngine } from '../../../sidecar/engine/open.ts';
import { type FreshDatabase, freshDatabase } from '../../support/databases.ts';

export interface OpenOptions {
  readonly url?: string;
  /** How far this sidecar's clock is ahead of the others'. */
  readonly aheadMs?: number;
  readonly purgeIntervalMs?: number;
  readonly statementTimeoutMs?: number;
  readonly log?: string[];
}

/** A database of its own, with engines over it and a look behind them. */
export class WriteWorld {
  readonly url: string;
  readonly client: MongoClient;
  readonly #fresh: FreshDatabase;
  readonly #engines: Engine[] = [];

  private constructor(fresh: FreshDatabase) {
    this.#fresh = fresh;
    this.url = fresh.url;
    this.client = new MongoClient(fresh.url, { promoteLongs: false });
  }

  static async open(): Promise<WriteWorld> {
    const serverUrl = process.env.TEST_MONGODB_URL;
    if (serverUrl === undefined) throw new Error('TEST_MONGODB_URL is not set');
    return new WriteWorld(await freshDatabase('mongodb', serverUrl));
  }

  async engine({
    url,
    aheadMs = 0,
    log,
    purgeIntervalMs,
    statementTimeoutMs = 4000,
  }: OpenOptions = {}): Promise<Engine> {
    const settings = { provider: 'mongodb', url: url ?? this.url, poolSize: 4, statementTimeoutMs } as const;
    const engine = await openEngine(settings, {
      log: (level, message, fields) => log?.push(`${level} ${message} ${JSON.stringify(fields)}`),
      now: () => Date.now() + aheadMs,
      ...(purgeIntervalMs === undefined ? {} : { purgeIntervalMs }),
    });
    this.#engines.push(engine);
    return engine;
  }

  async close(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close()));
    await this.client.close();
    await this.#fresh.drop();
  }

  collection(name: string) {
    return this.client.db().collection<Document>(name);
  }
}

/** Declares tables of the namespace and gives what the API would hand to the engine for each. */
export async function declare(
  engine: Engine,
  namespace: string,
  tables: readonly object[],
): Promise<Record<string, TableTarget>> {
  const { schema } = parseSchema({ tables } as unknown as JsonObject);
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace, from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(20_000));
  const stored = await engine.schemas.readSchema(namespace, within(5000));
  if (stored === null) throw new Error(`${namespace} is not declared`);
  return Object.fromEntries(
    stored.schema.tables.map((table) => [table.name, { namespace, revision: stored.revision, table }]),
  );
}

export function within(ms: number): { deadline: number } {
  return { deadline: performance.now() + ms };
}

export function slot(key: string = randomUUID(), now = Date.now()): IdempotencySlot {
  return { kid: 'k', namespace: 'game', key, fingerprint: 'f', now, expiresAt: now + 600_000 };
}

export function where(target: TableTarget, condition: object) {
  return parseFilter(parseJson(JSON.stringify(condition)), target.table);
}

export function row(values: Readonly<Record<string, Row extends ReadonlyMap<string, infer V> ? V : never>>): Row {
  return new Map(Object.entries(values));
}

export async function rowsOf(engine: Engine, target: TableTarget): Promise<unknown[]> {
  const fields = target.table.columns.map(({ name }) => name);
  const query: FindQuery = { filter: null, fields, sort: [], limit: 10_000, offset: 0, maxBytes: 1e7 };
  return JSON.parse((await engine.find(target, query, within(10_000))).rows) as unknown[];
}

export const ID = { name: 'id', type: 'int64', autoIncrement: true } as const;
