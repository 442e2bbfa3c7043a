import { randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { IdempotencySlot } from '#engine/rows.ts';
import { type FreshDatabase, freshDatabase } from '#support/databases.ts';

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

export function slot(key: string = randomUUID(), now = Date.now()): IdempotencySlot {
  return { kid: 'k', namespace: 'game', key, fingerprint: 'f', now, expiresAt: now + 600_000 };
}
