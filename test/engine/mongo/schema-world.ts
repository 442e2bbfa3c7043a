import { type Document, MongoClient } from 'mongodb';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import { MAIN_PART } from '#protocol/schema.ts';
import { SchemaCatalog } from '#sidecar/schema/catalog.ts';
import { NamespaceGate } from '#sidecar/schema/gate.ts';
import type { RemovedMode } from '#sidecar/schema/plan.ts';
import { SchemaSync } from '#sidecar/schema/sync.ts';
import type { SyncResult } from '#sidecar/schema/sync-request.ts';
import { type FreshDatabase, freshDatabase } from '#support/databases.ts';
import { Cutter } from './cutter.ts';

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

export type Declared = readonly object[];

/** A database of its own, seen both through engines and directly. */
export class MongoWorld {
  readonly url: string;
  readonly client: MongoClient;
  readonly #fresh: FreshDatabase;
  readonly #crashed: Promise<void>[] = [];

  private constructor(fresh: FreshDatabase) {
    this.#fresh = fresh;
    this.url = fresh.url;
    this.client = new MongoClient(fresh.url, { promoteLongs: false });
  }

  static async open(): Promise<MongoWorld> {
    const serverUrl = process.env.TEST_MONGODB_URL;
    if (serverUrl === undefined) throw new Error('TEST_MONGODB_URL is not set');
    return new MongoWorld(await freshDatabase('mongodb', serverUrl));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#crashed);
    await this.client.close();
    await this.#fresh.drop();
  }

  /** Each engine is the sidecar `me`, which goes on where it has died, or another one. */
  engine(url = this.url, instance = 'me'): Promise<Engine> {
    const settings = { provider: 'mongodb', url, poolSize: 4, statementTimeoutMs: 4000 } as const;
    return openEngine(settings, {
      log: () => {},
      now: () => NOW,
      instance: () => instance,
    });
  }

  /** Runs `work` with an engine that crashes before its command number `commands` + 1; false where it is done before. */
  async crashes(commands: number, work: (engine: Engine) => Promise<unknown>): Promise<boolean> {
    const cutter = await Cutter.open(this.url);
    const engine = await this.engine(cutter.url);
    try {
      await engine.schemas.readSchema('none', within(5000));
      const cut = cutter.cutAfter(commands);
      const done = work(engine).then(() => false);
      // The answer of a crashed sidecar does not matter.
      done.catch(() => {});
      return await Promise.race([cut.then(() => true), done]);
    } finally {
      await cutter.close();
      // It looks for its server for a while.
      this.#crashed.push(engine.close());
    }
  }

  collection(name: string) {
    return this.client.db().collection<Document>(name);
  }

  /** All that lies in the database of a namespace and of what it has in quarantine, without what differs each time. */
  async dump(namespace: string): Promise<Record<string, unknown>> {
    const state: Record<string, unknown> = {};
    const names = (await this.client.db().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    for (const name of names.filter((candidate) => isOf(candidate, namespace)).sort()) {
      state[withoutId(name).replaceAll(namespace, 'NS')] = {
        rows: (await this.collection(name).find().toArray()).map(plain).sort(),
        indexes: (await this.collection(name).indexes())
          .map(({ v: _, ...index }) => plain(index).replaceAll(namespace, 'NS'))
          .sort(),
      };
    }
    const stored = await this.collection('_schemas').findOne({ _id: namespace as never });
    const generators = await this.collection('_generators').find({}).toArray();
    const kept = await this.collection('_quarantine').find({ namespace }).sort({ _id: 1 }).toArray();
    return {
      ...state,
      schema: { changing: stored?.changing, pending: stored?.pending, schema: stored?.schema, hash: stored?.hash },
      generators: generators
        .filter(({ _id }) => isOf(String(_id), namespace))
        .map((document) => JSON.stringify(document).replaceAll(namespace, 'NS'))
        .sort(),
      kept: kept.map(({ _id, physical, namespace: _, ...about }) => ({
        ...about,
        definition: String(about.definition).replace(/"goneWith":\d+/, '"goneWith":ID'),
        physical: withoutId(String(physical)).replaceAll(namespace, 'NS'),
      })),
    };
  }
}

function isOf(name: string, namespace: string): boolean {
  return new RegExp(`^(_q\\d+_|_gone_)?${namespace}__`).test(name);
}

function withoutId(name: string): string {
  return name.replace(/^_q\d+_/, '_q_');
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/g;

function plain({ _id, storageEngine: _, ...document }: Document): string {
  const fields = Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1));
  return fields
    .map(([name, value]) => `${name}: ${typeName(value)} ${JSON.stringify(value)}`)
    .join(', ')
    .replace(UUID, 'UUID');
}

/** The same number in another type is another state. */
function typeName(value: unknown): string {
  return typeof value === 'object' && value !== null && '_bsontype' in value ? String(value._bsontype) : typeof value;
}

/** A sidecar's way to change schemas. */
export function syncer(engine: Engine, removed: RemovedMode = 'quarantine') {
  const catalog = new SchemaCatalog(engine);
  const sync = new SchemaSync({
    engine,
    catalog,
    gate: new NamespaceGate(),
    removed,
    now: () => NOW,
    log: () => {},
    drain: async () => {},
  });
  return (namespace: string, tables: Declared, dryRun = false): Promise<SyncResult> =>
    sync.sync({
      namespace,
      part: MAIN_PART,
      schema: { tables } as unknown as JsonObject,
      dryRun,
      deadline: performance.now() + 20_000,
    });
}

export function within(ms: number): { deadline: number } {
  return { deadline: performance.now() + ms };
}
