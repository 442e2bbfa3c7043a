import type { ColumnType } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Batch } from '../batch.ts';
import type { Capabilities, DatabaseFacts, Engine, EngineOptions, EngineStats, TableSize } from '../engine.ts';
import { TroubleLog, UnusableDatabaseError } from '../model/failures.ts';
import { PageBuilder } from '../model/page.ts';
import { rememberedAnswer } from '../model/remembered-answer.ts';
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
import { runBatch } from '../sql/batch.ts';
import { BatchTurns } from '../sql/batch-turns.ts';
import { IdempotencyPurge } from '../sql/idempotency-purge.ts';
import { ConnectionPool } from '../sql/pool/pool.ts';
import { PooledSessions } from '../sql/pool/sessions.ts';
import { SnapshotSource } from '../sql/pool/snapshot.ts';
import { type CompiledFind, columnNamed, ReadCompiler } from '../sql/read.ts';
import type { Session } from '../sql/session.ts';
import { isMaybeTwin, MAX_TWIN_ATTEMPTS } from '../sql/upsert-twin.ts';
import type { Transfer } from '../transfer.ts';
import { MYSQL_BATCH } from './batch.ts';
import { type MysqlDriver, mysqlDriver } from './connection.ts';
import { LONG_SORT_ROWS, longSortSql, MYSQL_DIALECT } from './dialect.ts';
import { createMysqlQueues } from './queue-calls.ts';
import { createSchemaCalls } from './schema/calls.ts';
import { refuseStale } from './schema/store.ts';
import { explained, send } from './send-statement.ts';
import { recall, remember, SlotTakenError } from './slots.ts';
import { purgeExpired } from './system-tables.ts';
import { tableSizes } from './table-sizes.ts';
import { planWrite } from './write.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: false,
  transactions: true,
  filterableJson: true,
  snapshots: true,
};

const BEGIN_SNAPSHOT = [
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
];

/** A slot that is taken by a record that expires in this very moment is tried again. */
const MAX_SLOT_ATTEMPTS = 3;

/** MySQL 8.0.17 and newer, MariaDB 10.5 and newer. */
export class MysqlEngine implements Engine {
  readonly provider = 'mysql';
  readonly capabilities = CAPABILITIES;
  readonly schemas: SchemaCalls;
  readonly transfer: Transfer;
  readonly queues: QueueCalls;
  readonly #driver: MysqlDriver;
  readonly #sessions: PooledSessions;
  readonly #batchTurns = new BatchTurns();
  readonly #purge: IdempotencyPurge;
  readonly #reads = new ReadCompiler(MYSQL_DIALECT);

  private constructor(driver: MysqlDriver, poolSize: number, options: EngineOptions) {
    this.#driver = driver;
    const pool = new ConnectionPool(driver, options.snapshot === undefined ? poolSize : 1);
    const source = options.snapshot === undefined ? pool : new SnapshotSource(pool, BEGIN_SNAPSHOT);
    this.#sessions = new PooledSessions(source, new TroubleLog(options.log));
    this.#purge = new IdempotencyPurge(this.#sessions, purgeExpired, options);
    const { log } = options;
    const { schemas, transfer } = createSchemaCalls({
      sessions: this.#sessions,
      flavour: driver.flavour,
      log,
    });
    this.schemas = schemas;
    this.transfer = transfer;
    this.queues = createMysqlQueues(this.#sessions);
  }

  /**
   * Resolves also where the server cannot be reached now: calls fail with `database_error` until it can.
   * @throws Error with one clear line for a server or a database that must not be used.
   */
  static async open(settings: ServerSettings, options: EngineOptions): Promise<MysqlEngine> {
    const engine = new MysqlEngine(mysqlDriver(settings), settings.poolSize, options);
    try {
      await engine.#sessions.lookFirst();
    } catch (error) {
      await engine.close();
      if (!(error instanceof UnusableDatabaseError)) throw error;
      const { host, pathname } = new URL(settings.url);
      throw new Error(`database mysql://${host}${pathname}: ${error.message}`);
    }
    return engine;
  }

  async ping(bounds: CallBounds): Promise<void> {
    await this.#sessions.read(bounds, (session) => session.query('DO 1'));
  }

  async inspect(bounds: CallBounds): Promise<DatabaseFacts> {
    const sql = 'SELECT VERSION(), CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS CHAR)';
    const { rows } = await this.#sessions.read(bounds, (session) => session.query(sql));
    const version = String(rows[0]?.[0]);
    return { version: /mariadb/i.test(version) ? version : `MySQL ${version}`, time: Number(rows[0]?.[1]) };
  }

  tableSizes(namespace: string, tables: readonly string[], bounds: CallBounds): Promise<TableSize[]> {
    return this.#sessions.read(bounds, (session) => tableSizes(session, namespace, tables));
  }

  async close(): Promise<void> {
    this.#purge.stop();
    await this.#sessions.close();
  }

  stats(): EngineStats {
    return this.#sessions.stats();
  }

  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Promise<Page> {
    const compiled = this.#compiledFind(target, query);
    return this.#page(target, query, { ...compiled, sql: this.#sorted(compiled, target, query) }, bounds);
  }

  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page> {
    return this.#page(target, query, this.#reads.aggregate(target, query), bounds);
  }

  async #page(
    target: TableTarget,
    query: Pick<FindQuery, 'limit' | 'maxBytes'>,
    { sql, params, writer }: CompiledFind,
    { deadline }: CallBounds,
  ): Promise<Page> {
    const found = await this.#sessions.read({ deadline }, async (session) => {
      const page = new PageBuilder(query.limit, query.maxBytes);
      let isCurrent = false;
      await session
        .stream(sql, params, (row) => {
          // The row that tells that the schema is the same comes first.
          if (isCurrent) return page.add(() => writer.write(row));
          isCurrent = row[0] === null;
          return isCurrent;
        })
        .catch((error: unknown) => explained(session, target, error));
      return isCurrent ? page.page() : null;
    });
    // In a session of its own: one whose rows were left may be of no use any more.
    return found ?? this.#sessions.read({ deadline }, (session) => refuseStale(session, target.namespace));
  }

  #compiledFind(target: TableTarget, query: FindQuery): CompiledFind {
    if (longSortColumns(target, query) === 0) return this.#reads.find(target, query);
    return this.#reads.find(target, { ...query, limit: Math.max(query.limit, LONG_SORT_ROWS) });
  }

  #sorted({ sql }: CompiledFind, target: TableTarget, query: FindQuery): string {
    const longColumns = longSortColumns(target, query);
    return longColumns > 0 ? longSortSql(sql, longColumns, this.#driver.flavour()) : sql;
  }

  count(target: TableTarget, filter: Filter | null, { deadline }: CallBounds): Promise<number> {
    const statement = this.#reads.count(target, filter);
    return this.#sessions.read({ deadline }, async (session) => {
      const [row] = (await send(session, target, statement)).rows;
      return row === undefined ? refuseStale(session, target.namespace) : Number(row[0]);
    });
  }

  async write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#writeOnce(target, write, slot, bounds);
      } catch (error) {
        if (attempt === MAX_TWIN_ATTEMPTS || !isMaybeTwin(write, error)) throw error;
      }
    }
  }

  async #writeOnce(
    target: TableTarget,
    write: Write,
    slot: IdempotencySlot | null,
    bounds: CallBounds,
  ): Promise<string> {
    const { deadline } = bounds;
    const plan = planWrite(target, write);
    if (slot === null) {
      const run = (session: Session): Promise<string> => plan.run(session);
      return plan.needsTransaction
        ? this.#sessions.transaction({ deadline }, run)
        : this.#sessions.write({ deadline }, run);
    }
    for (let attempt = 1; attempt <= MAX_SLOT_ATTEMPTS; attempt++) {
      try {
        return await this.#sessions.transaction({ deadline }, async (session) => {
          const result = await plan.run(session);
          await remember(session, slot, result);
          return result;
        });
      } catch (error) {
        // A twin that was quicker also makes a write fail that would do the same again.
        const remembered = await this.#twin(error, slot, bounds);
        if (remembered !== null) return remembered;
      }
    }
    throw new ApiError('conflict_retry', 'write conflict: gave up after 5 attempts; retry the call');
  }

  /** The result of the first one, null where the slot is free by now; rethrows what has nothing to do with the slot. */
  async #twin(error: unknown, slot: IdempotencySlot, bounds: CallBounds): Promise<string | null> {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const remembered = await this.recall(slot.kid, slot.namespace, slot.key, slot.now, bounds);
    if (remembered === null) {
      if (error instanceof SlotTakenError) return null;
      throw error;
    }
    return rememberedAnswer(remembered, slot);
  }

  batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    return this.#batchTurns.run(batch, bounds, () => runBatch(this.#sessions, MYSQL_BATCH, batch, slot, bounds));
  }

  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    { deadline }: CallBounds,
  ): Promise<RememberedResult | null> {
    return this.#sessions.read({ deadline }, (session) => recall(session, { kid, namespace, key, now }));
  }
}

/** Of what it sorts by, the columns of which the server's usual sort would compare only the beginning. */
function longSortColumns({ table }: TableTarget, { sort }: FindQuery): number {
  return sort.filter(({ column }) => LONG_TYPES.has(columnNamed(table, column).type)).length;
}

const LONG_TYPES: ReadonlySet<ColumnType> = new Set(['text', 'bytes']);
