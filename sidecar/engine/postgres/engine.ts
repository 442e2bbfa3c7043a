import type { Filter } from '#protocol/filter.ts';
import type { Batch } from '../batch.ts';
import type { Capabilities, DatabaseFacts, Engine, EngineOptions, EngineStats, TableSize } from '../engine.ts';
import { TroubleLog, UnusableDatabaseError } from '../model/failures.ts';
import { PageBuilder } from '../model/page.ts';
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
import type { ServerSettings } from '../settings.ts';
import { runBatch } from '../sql/batch.ts';
import { BatchTurns } from '../sql/batch-turns.ts';
import { IdempotencyPurge } from '../sql/idempotency-purge.ts';
import { ConnectionPool } from '../sql/pool/pool.ts';
import { PooledSessions } from '../sql/pool/sessions.ts';
import { SnapshotSource } from '../sql/pool/snapshot.ts';
import { type CompiledFind, ReadCompiler } from '../sql/read.ts';
import { createSchemaCalls } from '../sql/schema/calls.ts';
import type { SqlBounds } from '../sql/session.ts';
import { createTransactionalTransfer } from '../sql/transfer.ts';
import { isMaybeTwin, MAX_TWIN_ATTEMPTS } from '../sql/upsert-twin.ts';
import type { Transfer } from '../transfer.ts';
import { POSTGRES_BATCH } from './batch.ts';
import { postgresDriver } from './connection.ts';
import { POSTGRES_DIALECT } from './dialect.ts';
import { createPostgresQueues } from './queue-calls.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { purgeExpired } from './system-tables.ts';
import { tableSizes } from './table-sizes.ts';
import { planMove, planWrite, SlotTakenError } from './write.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: true,
  transactions: true,
  filterableJson: true,
  snapshots: true,
};
/** Between two pages the other database may take its time. */
const BEGIN_SNAPSHOT = [
  'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
  'SET LOCAL idle_in_transaction_session_timeout = 0',
  // The first statement takes the view.
  'SELECT 1 FROM _meta LIMIT 1',
];

/** PostgreSQL 13 and newer. Statements are compiled here and run on pooled connections (`PooledSessions`). */
export class PostgresEngine implements Engine {
  readonly provider = 'postgres';
  readonly capabilities = CAPABILITIES;
  readonly queues: QueueCalls;
  readonly transfer: Transfer;
  readonly schemas: SchemaCalls;
  readonly #sessions: PooledSessions;
  readonly #batchTurns = new BatchTurns();
  readonly #reads = new ReadCompiler(POSTGRES_DIALECT);
  readonly #purge: IdempotencyPurge;

  private constructor(sessions: PooledSessions, options: EngineOptions) {
    this.#sessions = sessions;
    const calls = createSchemaCalls(sessions, POSTGRES_SCHEMA);
    this.schemas = calls;
    this.queues = createPostgresQueues(sessions);
    this.transfer = createTransactionalTransfer(sessions, POSTGRES_SCHEMA);
    this.#purge = new IdempotencyPurge(sessions, purgeExpired, options);
  }

  /**
   * Resolves also where the server cannot be reached now: calls fail with `database_error`, and it is tried again.
   * @throws Error for a server that is too old, or a database that must not be used.
   */
  static async open(settings: ServerSettings, options: EngineOptions): Promise<PostgresEngine> {
    const { snapshot, log } = options;
    const pool = new ConnectionPool(postgresDriver(settings), snapshot === undefined ? settings.poolSize : 1);
    const source = snapshot === undefined ? pool : new SnapshotSource(pool, BEGIN_SNAPSHOT);
    const sessions = new PooledSessions(source, new TroubleLog(log));
    try {
      await sessions.lookFirst();
    } catch (error) {
      await sessions.close();
      throw error instanceof UnusableDatabaseError ? new Error(`database: ${error.message}`) : error;
    }
    return new PostgresEngine(sessions, options);
  }

  async ping(bounds: CallBounds): Promise<void> {
    await this.#sessions.read(bounds, (session) => session.prepared('SELECT 1', []));
  }

  async inspect(bounds: CallBounds): Promise<DatabaseFacts> {
    const sql = `SELECT 'PostgreSQL ' || current_setting('server_version'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
    const { rows } = await this.#sessions.read(bounds, (session) => session.query(sql));
    return { version: String(rows[0]?.[0]), time: Number(rows[0]?.[1]) };
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
    return this.#page(target, query, this.#reads.find(target, query), bounds);
  }

  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page> {
    return this.#page(target, query, this.#reads.aggregate(target, query), bounds);
  }

  async #page(
    target: TableTarget,
    query: Pick<FindQuery, 'limit' | 'maxBytes'>,
    { sql, params, writer }: CompiledFind,
    bounds: CallBounds,
  ): Promise<Page> {
    const { rows } = await this.#sessions.read(of(target, bounds), (session) => session.prepared(sql, params));
    const [first] = rows;
    if (first === undefined) throw new StaleSchemaError(target.namespace);
    const page = new PageBuilder(query.limit, query.maxBytes);
    if (first[0] === null) return page.page();
    for (const row of rows) if (!page.add(() => writer.write(row))) break;
    return page.page();
  }

  async count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number> {
    const { sql, params } = this.#reads.count(target, filter);
    const { rows } = await this.#sessions.read(of(target, bounds), (session) => session.prepared(sql, params));
    const [first] = rows;
    if (first === undefined) throw new StaleSchemaError(target.namespace);
    return Number(first[0]);
  }

  async write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#writeOnce(target, write, slot, of(target, bounds));
      } catch (error) {
        if (slot !== null && error instanceof SlotTakenError) {
          const result = await this.#replay(slot, bounds);
          if (result !== null) return result;
        } else if (!isMaybeTwin(write, error)) throw error;
        if (attempt === MAX_TWIN_ATTEMPTS) throw error;
      }
    }
  }

  async #writeOnce(
    target: TableTarget,
    write: Write,
    slot: IdempotencySlot | null,
    bounds: SqlBounds,
  ): Promise<string> {
    const plan = planWrite(target, write, slot);
    const result = plan.needsTransaction
      ? await this.#sessions.transaction(bounds, (session) => plan.run(session))
      : await this.#sessions.write(bounds, (session) => plan.run(session));
    if (result !== null) return result;
    const move = planMove(target, write, slot);
    const moved = await this.#sessions.transaction(bounds, (session) => move.run(session));
    if (moved === null) throw new Error('nothing was inserted, and nothing says why');
    return moved;
  }

  /** What is remembered; null where it has expired, and is forgotten now. */
  async #replay(slot: IdempotencySlot, bounds: CallBounds): Promise<string | null> {
    const { kid, namespace, key, now } = slot;
    const remembered = await this.recall(kid, namespace, key, now, bounds);
    if (remembered === null) {
      const expired = 'DELETE FROM _idempotency WHERE kid = $1 AND namespace = $2 AND key = $3 AND expires_at <= $4';
      await this.#sessions.write(bounds, (session) => session.query(expired, [kid, namespace, key, now]));
      return null;
    }
    return rememberedAnswer(remembered, slot);
  }

  batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    return this.#batchTurns.run(batch, bounds, () => runBatch(this.#sessions, POSTGRES_BATCH, batch, slot, bounds));
  }

  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    bounds: CallBounds,
  ): Promise<RememberedResult | null> {
    const sql =
      'SELECT fingerprint, result FROM _idempotency WHERE kid = $1 AND namespace = $2 AND key = $3 AND expires_at > $4';
    return this.#sessions.read(bounds, async (session) => {
      const [row] = (await session.prepared(sql, [kid, namespace, key, now])).rows;
      return row === undefined ? null : { fingerprint: String(row[0]), result: String(row[1]) };
    });
  }
}

function of({ namespace }: TableTarget, { deadline }: CallBounds): SqlBounds {
  return { deadline, namespace };
}
