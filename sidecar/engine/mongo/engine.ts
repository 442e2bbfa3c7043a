import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import { MAX_DECIMAL_PRECISION } from '#protocol/limits.ts';
import { type Batch, targetOf } from '../batch.ts';
import type { ClusterCalls } from '../cluster/cluster-calls.ts';
import { Leases, leasesOptions } from '../cluster/leases.ts';
import type {
  Capabilities,
  DatabaseFacts,
  Engine,
  EngineOptions,
  EngineStats,
  HostInUse,
  TableSize,
  WriteObstacle,
} from '../engine.ts';
import { UnusableDatabaseError } from '../model/failures.ts';
import { Places } from '../model/places.ts';
import type { QueueCalls } from '../queues.ts';
import type {
  AggregateQuery,
  CallBounds,
  FindQuery,
  IdempotencySlot,
  Page,
  RememberedResult,
  TableTarget,
  Write,
} from '../rows.ts';
import type { SchemaCalls } from '../schema-calls.ts';
import type { ServerSettings } from '../settings.ts';
import type { Transfer } from '../transfer.ts';
import { aggregate } from './aggregate.ts';
import { runBatch } from './batch.ts';
import { createClusterCalls } from './cluster.ts';
import { type CallKind, MongoDatabase } from './connection.ts';
import { collectionOf } from './documents.ts';
import { Operations } from './keyed/operations.ts';
import { recall } from './keyed/records.ts';
import { MarkSweep, OperationPurge } from './keyed/sweep.ts';
import { createQueueCalls } from './queue/calls.ts';
import { count, find, tableSizes } from './read.ts';
import { createSchemaCalls } from './schema/calls.ts';
import { metaOf, type RunSchemaWork } from './schema/collections.ts';
import { SchemaLease } from './schema/lease.ts';
import type { MongoSession } from './session.ts';
import { prepareSystemCollections } from './system-tables.ts';
import { createTransfer } from './transfer.ts';
import type { KeyedOperation } from './write/call.ts';
import type { KnownNumbers } from './write/generators.ts';
import { applyWrite } from './write/write.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: false,
  transactions: false,
  filterableJson: false,
  snapshots: false,
  maxDecimalScale: MAX_DECIMAL_PRECISION,
};

/** MongoDB 6 and newer, without transactions: one path for a single server, a replica set and a sharded cluster. */
export class MongoEngine implements Engine {
  readonly provider = 'mongodb';
  readonly capabilities = CAPABILITIES;
  readonly schemas: SchemaCalls;
  readonly transfer: Transfer;
  readonly queues: QueueCalls;
  readonly cluster: ClusterCalls;
  readonly leases: Leases;
  readonly #database: MongoDatabase;
  readonly #lease: SchemaLease;
  readonly #sweep: MarkSweep;
  readonly #purge: OperationPurge;
  readonly #operations: Operations;
  readonly #known: KnownNumbers = new Map();
  /** Without places, calls of several statements would advance side by side, and under load all of them would be late. */
  readonly #places: Places;
  /** Calls that have not settled, and the ones among them that have a place. */
  readonly #open = { read: 0, write: 0 };
  readonly #atWork = { read: 0, write: 0 };
  readonly #underWay = new Set<Promise<unknown>>();
  #writes = 0;
  #timeouts = 0;

  private constructor(database: MongoDatabase, settings: ServerSettings, options: EngineOptions) {
    this.#database = database;
    this.#places = new Places(settings.poolSize);
    const run: RunSchemaWork = (bounds, work) => database.run(bounds, 'write', work);
    this.cluster = createClusterCalls(run);
    this.leases = new Leases(this.cluster, leasesOptions(options));
    this.#lease = new SchemaLease({ run, leases: this.leases, callMs: settings.statementTimeoutMs });
    this.#sweep = new MarkSweep(database);
    this.#purge = new OperationPurge(database, options.expiryNow ?? options.now, options.purgeIntervalMs);
    this.#operations = new Operations({ sweep: this.#sweep });
    const calls = createSchemaCalls(run, this.#lease, this.leases);
    this.schemas = calls;
    this.transfer = createTransfer(run);
    this.queues = createQueueCalls({
      run: (kind, bounds, work) => this.#run(kind, bounds, work),
      onTable: (target, bounds, work, how) => this.#onTable('write', target, bounds, work, how),
      known: this.#known,
    });
  }

  /**
   * Resolves also if the server cannot be reached now: calls fail with `database_error`, and each call tries again.
   * @throws Error with one line for a database that must not be used
   */
  static async open(settings: ServerSettings, options: EngineOptions): Promise<MongoEngine> {
    const database = new MongoDatabase(settings, { log: options.log, prepare: prepareSystemCollections });
    try {
      await database.open({ deadline: performance.now() + settings.statementTimeoutMs });
    } catch (error) {
      await database.close();
      throw error instanceof UnusableDatabaseError ? new Error(`database: ${error.message}`) : error;
    }
    return new MongoEngine(database, settings, options);
  }

  ping(bounds: CallBounds): Promise<WriteObstacle | null> {
    return this.#run('read', bounds, (session) =>
      session.look(async (db, time) => {
        await metaOf(db).findOne({ _id: 'format' }, time);
        const { isWritablePrimary } = await db.command({ hello: 1 }, time);
        return isWritablePrimary === false ? 'standby' : null;
      }),
    );
  }

  hostInUse(): HostInUse | null {
    return this.#database.hostInUse;
  }

  async inspect(bounds: CallBounds): Promise<DatabaseFacts> {
    return this.#run('read', bounds, (session) =>
      session.look(async (db, time) => {
        const { version } = await db.command({ buildInfo: 1 }, time);
        const { localTime } = await db.command({ hello: 1 }, time);
        return {
          version: `MongoDB ${String(version)}`,
          time: localTime instanceof Date ? localTime.getTime() : null,
        };
      }),
    );
  }

  tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]> {
    return this.#run('read', bounds, (session) => tableSizes(session, namespace, tables));
  }

  /** Waits for running calls, within their own time. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#underWay]);
    await Promise.allSettled([this.#purge.close(), this.#sweep.close(), this.#lease.close()]);
    await this.#database.close();
  }

  stats(): EngineStats {
    return {
      waitingReads: this.#open.read - this.#atWork.read,
      runningReads: this.#atWork.read,
      waitingWrites: this.#open.write - this.#atWork.write,
      commits: this.#writes,
      committedWrites: this.#writes,
      timeouts: this.#timeouts,
      spotReads: 0,
    };
  }

  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Promise<Page> {
    return this.#onTable('read', target, bounds, (session) => find(session, target, query));
  }

  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page> {
    return this.#onTable('read', target, bounds, (session) => aggregate(session, target, query));
  }

  count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number> {
    return this.#onTable('read', target, bounds, (session) => count(session, target, filter));
  }

  async write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    const result = await this.#onTable('write', target, bounds, (session, inner) =>
      this.#write(session, target, write, slot, inner),
    );
    this.#writes += 1;
    return result;
  }

  async #write(
    session: MongoSession,
    target: TableTarget,
    write: Write,
    slot: IdempotencySlot | null,
    bounds: CallBounds,
  ): Promise<string> {
    const call = { session, target, known: this.#known };
    if (slot === null) return (await applyWrite({ ...call, operation: null }, write)).result;
    const keyed = {
      slot,
      collection: collectionOf(target),
      marks: write.op === 'update' || write.op === 'upsert',
      run: (operation: KeyedOperation) => applyWrite({ ...call, operation }, write),
    };
    return this.#operations.run(session, keyed, bounds);
  }

  async batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    if (batch.isAtomic) throw new Error('there are no transactions');
    let at: number | null = null;
    const result = await this.#onTable('write', targetOf(batch), bounds, (session, inner) => {
      at = null;
      const run = (id: string | null) =>
        runBatch(batch, slot, id, ({ target, write }, own, place) => {
          at = place;
          return this.#write(session, target, write as Write, own, inner);
        });
      if (slot === null) return run(null);
      const keyed = {
        slot,
        collection: '',
        marks: false,
        isBatch: true,
        run: async ({ id }: KeyedOperation) => ({ result: await run(id.toHexString()), marked: null }),
      };
      return this.#operations.run(session, keyed, inner);
    }).catch((error: unknown) => {
      // An error of the driver becomes an ApiError only outside of the batch.
      throw at !== null && error instanceof ApiError && error.index === undefined ? error.inOperation(at) : error;
    });
    this.#writes += 1;
    return result;
  }

  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    bounds: CallBounds,
  ): Promise<RememberedResult | null> {
    return this.#run('read', bounds, (session) => recall(session, { kid, namespace, key, now }));
  }

  #onTable<T>(
    kind: CallKind,
    target: TableTarget,
    bounds: CallBounds,
    work: (session: MongoSession, bounds: CallBounds) => Promise<T>,
    how: { readonly isLong?: boolean } = {},
  ): Promise<T> {
    const placed = (inner: CallBounds) =>
      this.#places.run(inner, () => this.#working(kind, inner, (session) => work(session, inner)), noPlace);
    return this.#counted(kind, () => this.#lease.run(target, bounds, placed, how));
  }

  #run<T>(kind: CallKind, bounds: CallBounds, work: (session: MongoSession) => Promise<T>): Promise<T> {
    return this.#counted(kind, () => this.#working(kind, bounds, work));
  }

  async #working<T>(kind: CallKind, bounds: CallBounds, work: (session: MongoSession) => Promise<T>): Promise<T> {
    this.#atWork[kind] += 1;
    try {
      return await this.#database.run(bounds, kind, work);
    } finally {
      this.#atWork[kind] -= 1;
    }
  }

  async #counted<T>(kind: CallKind, work: () => Promise<T>): Promise<T> {
    this.#open[kind] += 1;
    const running = work();
    this.#underWay.add(running);
    try {
      return await running;
    } catch (error) {
      if (isTimeout(error)) this.#timeouts += 1;
      throw error;
    } finally {
      this.#underWay.delete(running);
      this.#open[kind] -= 1;
    }
  }
}

function noPlace(): ApiError {
  return new ApiError('database_timeout', 'the database was busy for too long; nothing was changed');
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'database_timeout';
}
