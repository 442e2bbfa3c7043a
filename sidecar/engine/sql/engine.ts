import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Batch } from '../batch.ts';
import type { ClusterCalls } from '../cluster/cluster-calls.ts';
import { Leases, leasesOptions } from '../cluster/leases.ts';
import {
  type Capabilities,
  type DatabaseFacts,
  type Engine,
  type EngineOptions,
  type EngineStats,
  type HostInUse,
  type TableSize,
  unknownSize,
  type WriteObstacle,
} from '../engine.ts';
import type { EngineLog } from '../log.ts';
import { TroubleLog, UnusableDatabaseError } from '../model/failures.ts';
import { PageBuilder } from '../model/page.ts';
import { physicalTable } from '../model/physical-names.ts';
import { rememberedAnswer } from '../model/remembered-answer.ts';
import type { QueueCalls } from '../queues.ts';
import {
  type AggregateQuery,
  type CallBounds,
  type FindQuery,
  type IdempotencySlot,
  type Page,
  type RememberedResult,
  StaleSchemaError,
  type TableTarget,
  type Write,
} from '../rows.ts';
import type { SchemaCalls } from '../schema-calls.ts';
import type { Transfer } from '../transfer.ts';
import { type BatchParts, runBatch } from './batch.ts';
import { BatchTurns } from './batch-turns.ts';
import { isMaybeTwin, MAX_TWIN_ATTEMPTS } from './change.ts';
import { createClusterCalls } from './cluster.ts';
import type { SqlDriver } from './pool/driver.ts';
import { ConnectionPool } from './pool/pool.ts';
import { PooledSessions } from './pool/sessions.ts';
import { SnapshotSource } from './pool/snapshot.ts';
import { type ApplyDialect, createQueues } from './queue/apply.ts';
import { type CompiledFind, type CompiledStatement, ReadCompiler } from './read.ts';
import type { ServerSessions, Session, Sessions, SqlBounds } from './session.ts';
import { IdempotencyPurge, recall, SlotTakenError } from './slots.ts';

/** A write with its slot, if the caller gave a key. */
export interface SlottedWrite {
  readonly target: TableTarget;
  readonly write: Write;
  readonly slot: IdempotencySlot | null;
}

/** A kind of database below `SqlEngine`: everything in which PostgreSQL and MySQL differ. */
export interface SqlProvider {
  readonly provider: Engine['provider'];
  readonly capabilities: Capabilities;
  /** Names the database in errors of the start. */
  readonly label: string;
  readonly driver: SqlDriver;
  readonly batches: BatchParts;
  readonly queues: ApplyDialect;
  /** Statements that begin the transaction of a snapshot. */
  readonly beginSnapshot: readonly string[];
  /** Selects the version in words, and the server's clock in epoch milliseconds. */
  readonly factsSql: string;
  /** Selects name, estimated rows and bytes of physical tables; null if unknown. */
  sizes(names: readonly string[]): CompiledStatement;
  /** A page of rows, by `reads.find` or a variant of it. */
  compileFind(reads: ReadCompiler, target: TableTarget, query: FindQuery): CompiledFind;
  /** Runs a write once and remembers its result under the slot. @throws SlotTakenError */
  write(sessions: ServerSessions, call: SlottedWrite, bounds: SqlBounds): Promise<string>;
  /** Removes idempotency records that have expired by `now`, epoch milliseconds; not too many at once. */
  purgeExpired(session: Session, now: number): Promise<void>;
  calls(sessions: Sessions, leases: Leases, log: EngineLog): Pick<Engine, 'schemas' | 'transfer'>;
  /**
   * Only without `transactionalSchema`: others may see an unfinished schema change, and these functions tell it
   * from a finished one. With the flag, a missing table or column means that the schema has changed.
   */
  readonly halfDone?: {
    /** For a statement on a declared table that has failed. */
    explain(session: Session, target: TableTarget, error: unknown): Promise<never>;
    /** For a statement whose revision was not the stored one. */
    refuseStale(session: Session, namespace: string): Promise<never>;
  };
}

/** An engine of database servers: compiles statements, and runs them on pooled connections (`PooledSessions`). */
export class SqlEngine implements Engine {
  readonly provider: Engine['provider'];
  readonly capabilities: Capabilities;
  readonly schemas: SchemaCalls;
  readonly queues: QueueCalls;
  readonly transfer: Transfer;
  readonly cluster: ClusterCalls;
  readonly leases: Leases;
  readonly #provider: SqlProvider;
  readonly #sessions: PooledSessions;
  readonly #reads: ReadCompiler;
  readonly #batchTurns = new BatchTurns();
  readonly #purge: IdempotencyPurge;

  private constructor(provider: SqlProvider, sessions: PooledSessions, options: EngineOptions) {
    this.#provider = provider;
    this.#sessions = sessions;
    this.provider = provider.provider;
    this.capabilities = provider.capabilities;
    this.cluster = createClusterCalls(sessions, () => provider.queues.schema);
    this.leases = new Leases(this.cluster, leasesOptions(options));
    ({ schemas: this.schemas, transfer: this.transfer } = provider.calls(sessions, this.leases, options.log));
    this.queues = createQueues(sessions, provider.queues);
    this.#reads = new ReadCompiler(provider.batches.dialect);
    this.#purge = new IdempotencyPurge(sessions, provider.purgeExpired, options);
  }

  /**
   * Resolves also if the server cannot be reached now: calls fail with `database_error` until it can.
   * @throws Error with one clear line for a server or a database that must not be used
   */
  static async open(provider: SqlProvider, poolSize: number, options: EngineOptions): Promise<SqlEngine> {
    const { snapshot, log } = options;
    const count = snapshot === undefined ? poolSize : 1;
    const pool = new ConnectionPool(provider.driver, count, log);
    const source = snapshot === undefined ? pool : new SnapshotSource(pool, provider.beginSnapshot);
    const sessions = new PooledSessions(source, count, new TroubleLog(log));
    try {
      await sessions.lookFirst();
    } catch (error) {
      await sessions.close();
      throw error instanceof UnusableDatabaseError ? new Error(`${provider.label}: ${error.message}`) : error;
    }
    return new SqlEngine(provider, sessions, options);
  }

  ping(bounds: CallBounds): Promise<WriteObstacle | null> {
    const { driver } = this.#provider;
    return this.#sessions.read(bounds, async (session) => {
      const query = (text: string) => session.query(text);
      const { obstacle } = await driver.standing(query);
      return obstacle ?? ((await driver.lacksStandby?.(query)) === true ? 'noStandby' : null);
    });
  }

  hostInUse(): HostInUse {
    return this.#sessions.hostInUse();
  }

  async inspect(bounds: CallBounds): Promise<DatabaseFacts> {
    const { rows } = await this.#sessions.read(bounds, (session) => session.query(this.#provider.factsSql));
    return { version: String(rows[0]?.[0]), time: Number(rows[0]?.[1]) };
  }

  async tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]> {
    if (tables.length === 0) return [];
    const { sql, params } = this.#provider.sizes(tables.map((table) => physicalTable(namespace, table)));
    const { rows } = await this.#sessions.read(bounds, (session) => session.query(sql, params));
    const byName = new Map(rows.map(([name, estimate, bytes]) => [String(name), { estimate, bytes }]));
    return tables.map((table) => {
      const found = byName.get(physicalTable(namespace, table));
      if (found === undefined) return unknownSize(table);
      return { table, rows: countOf(found.estimate), isEstimate: true, bytes: countOf(found.bytes) };
    });
  }

  async close(): Promise<void> {
    this.#purge.stop();
    await this.#sessions.close();
  }

  stats(): EngineStats {
    return this.#sessions.stats();
  }

  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Promise<Page> {
    return this.#page(target, query, this.#provider.compileFind(this.#reads, target, query), bounds);
  }

  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page> {
    return this.#page(target, query, this.#reads.aggregate(target, query), bounds);
  }

  async #page(
    target: TableTarget,
    query: Pick<FindQuery, 'limit' | 'maxBytes'>,
    compiled: CompiledFind,
    bounds: CallBounds,
  ): Promise<Page> {
    const readInto = this.#provider.batches.dialect.streamsRows ? streamInto : selectInto;
    const found = await this.#sessions.read(this.#bounds(target, bounds), (session) => {
      const page = new PageBuilder(query.limit, query.maxBytes);
      return this.#explained(session, target, readInto(session, compiled, page));
    });
    // In a session of its own: a connection whose rows were left may be unusable.
    return found ?? this.#sessions.read(bounds, (session) => this.#refuseStale(session, target));
  }

  count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number> {
    const { sql, params } = this.#reads.count(target, filter);
    return this.#sessions.read(this.#bounds(target, bounds), async (session) => {
      const [row] = (await this.#explained(session, target, session.prepared(sql, params))).rows;
      return row === undefined ? this.#refuseStale(session, target) : Number(row[0]);
    });
  }

  async write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#provider.write(this.#sessions, { target, write, slot }, this.#bounds(target, bounds));
      } catch (error) {
        const remembered = slot === null ? null : await this.#twinsAnswer(error, slot, bounds);
        if (remembered !== null) return remembered;
        const isOver = !(error instanceof SlotTakenError) && !isMaybeTwin(write, error);
        if (isOver || attempt === MAX_TWIN_ATTEMPTS) throw error;
      }
    }
  }

  /** A faster twin also makes a write fail that would repeat its effect. Null if no twin was answered. */
  async #twinsAnswer(error: unknown, slot: IdempotencySlot, bounds: CallBounds): Promise<string | null> {
    if (!(error instanceof ApiError) || error.status >= 500) return null;
    const remembered = await this.recall(slot.kid, slot.namespace, slot.key, slot.now, bounds);
    return remembered === null ? null : rememberedAnswer(remembered, slot);
  }

  batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    return this.#batchTurns.run(batch, bounds, () =>
      runBatch(this.#sessions, this.#provider.batches, batch, slot, bounds),
    );
  }

  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    bounds: CallBounds,
  ): Promise<RememberedResult | null> {
    const { dialect } = this.#provider.batches;
    return this.#sessions.read(bounds, (session) => recall(dialect, session, { kid, namespace, key, now }));
  }

  #bounds({ namespace }: TableTarget, { deadline, caller }: CallBounds): SqlBounds {
    const bounds = caller === undefined ? { deadline } : { deadline, caller };
    return this.#provider.halfDone === undefined ? { ...bounds, namespace } : bounds;
  }

  #explained<T>(session: Session, target: TableTarget, running: Promise<T>): Promise<T> {
    const { halfDone } = this.#provider;
    return halfDone === undefined ? running : running.catch((error) => halfDone.explain(session, target, error));
  }

  async #refuseStale(session: Session, { namespace }: TableTarget): Promise<never> {
    await this.#provider.halfDone?.refuseStale(session, namespace);
    throw new StaleSchemaError(namespace);
  }
}

/** Null if the schema has changed since. */
async function selectInto(
  session: Session,
  { sql, params, writer }: CompiledFind,
  page: PageBuilder,
): Promise<Page | null> {
  const { rows } = await session.prepared(sql, params);
  const [first] = rows;
  if (first === undefined) return null;
  if (first[0] === null) return page.page();
  for (const row of rows) if (!page.add(() => writer.write(row))) break;
  return page.page();
}

/** The same, row by row: the first row proves that the schema is unchanged. */
async function streamInto(
  session: Session,
  { sql, params, writer }: CompiledFind,
  page: PageBuilder,
): Promise<Page | null> {
  let isCurrent = false;
  await session.stream(sql, params, (row) => {
    if (isCurrent) return page.add(() => writer.write(row));
    isCurrent = row[0] === null;
    return isCurrent;
  });
  return isCurrent ? page.page() : null;
}

function countOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
