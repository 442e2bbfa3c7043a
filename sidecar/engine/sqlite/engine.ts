import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import type { Filter } from '#protocol/filter.ts';
import { MAX_DECIMAL_PRECISION } from '#protocol/limits.ts';
import type { Batch } from '../batch.ts';
import type { ClusterCalls } from '../cluster/cluster-calls.ts';
import { Leases, leasesOptions } from '../cluster/leases.ts';
import type { Capabilities, Engine, EngineOptions, EngineStats } from '../engine.ts';
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
import type { SqliteSettings } from '../settings.ts';
import type { Transfer } from '../transfer.ts';
import { compileAggregate } from './aggregate/sql.ts';
import { applyQueue } from './queue/apply-call.ts';
import { compileCount, compileFind } from './read-sql.ts';
import { SpotReads } from './spot/spot-reads.ts';
import { createCalls, type WorkerCalls } from './worker/calls.ts';
import { type CallBody, CallStatements, newCall, StatementBook } from './worker/pending-call.ts';
import { WorkerPool } from './worker/pool.ts';
import { batchCall, compileWrite } from './write-sql.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: true,
  transactions: true,
  filterableJson: true,
  snapshots: true,
  maxDecimalScale: MAX_DECIMAL_PRECISION,
};

/** Embedded SQLite: statements are compiled here, on the API's thread, and run in worker threads. */
export class SqliteEngine implements Engine {
  readonly provider = 'sqlite';
  readonly capabilities = CAPABILITIES;
  readonly schemas: SchemaCalls;
  readonly queues: QueueCalls;
  readonly transfer: Transfer;
  readonly cluster: ClusterCalls;
  readonly leases: Leases;
  readonly inspect: WorkerCalls['inspect'];
  readonly tableSizes: WorkerCalls['tableSizes'];
  readonly #pool: WorkerPool;
  readonly #spot: SpotReads;
  readonly #book = new StatementBook();

  constructor(pool: WorkerPool, spot: SpotReads, options: EngineOptions) {
    this.#pool = pool;
    this.#spot = spot;
    const calls = createCalls((name, args, lane, deadline) => {
      const call = { ...newCall({ kind: 'job', name, args }, { deadline }), isLong: lane !== 'quick' };
      if (lane === 'writer') return pool.write(call);
      return lane === 'quick' ? pool.readOwn(call) : pool.read(call);
    });
    this.schemas = calls.schemas;
    this.transfer = calls.transfer;
    this.cluster = calls.cluster;
    this.leases = new Leases(calls.cluster, leasesOptions(options));
    this.inspect = calls.inspect;
    this.tableSizes = calls.tableSizes;
    const port = { book: this.#book, writer: pool };
    this.queues = { ...calls.queues, applyQueue: (batch, bounds) => applyQueue(port, batch, bounds) };
  }

  /**
   * Resolves even if the file cannot be opened now: calls fail with `database_error`, and the worker retries.
   * @throws Error for a file that must not be used at all: of a newer format, or of another program.
   */
  static async open(settings: SqliteSettings, options: EngineOptions): Promise<SqliteEngine> {
    const { snapshot } = options;
    const file = snapshot === undefined ? settings.file : copyDatabase(settings.file, snapshot.folder);
    const spot = new SpotReads(file);
    const pool = new WorkerPool({ ...settings, file }, options, () => spot.rest());
    const unusable = await pool.opened();
    if (unusable === null) return new SqliteEngine(pool, spot, options);
    spot.close();
    await pool.close();
    throw new Error(`database ${settings.file}: ${unusable}`);
  }

  async ping(bounds: CallBounds): Promise<null> {
    await this.#pool.readOwn(newCall({ kind: 'ping' }, bounds));
    return null;
  }

  hostInUse(): null {
    return null;
  }

  close(): Promise<void> {
    this.#spot.close();
    return this.#pool.close();
  }

  stats(): EngineStats {
    return { ...this.#pool.stats(), spotReads: this.#spot.count };
  }

  find(target: TableTarget, query: FindQuery, bounds: CallBounds): Page | Promise<Page> {
    // The API's thread does not open a file that may hang.
    const page = this.#pool.hasUsedFile ? this.#spot.find(target, query, bounds.deadline) : null;
    return page ?? this.#findInReader(target, query, bounds);
  }

  #findInReader(target: TableTarget, query: FindQuery, bounds: CallBounds): Promise<Page> {
    const { limit, maxBytes } = query;
    const { namespace, revision } = target;
    const { sql, params, columns, indexed, stepRows } = compileFind(target, query);
    const statements = new CallStatements(this.#book);
    const statement = statements.numberOf(target, sql, columns, indexed);
    const body: CallBody = { kind: 'find', statement, params, limit, maxBytes, stepRows, namespace, revision };
    return this.#pool.read(newCall(body, bounds, statements.used)) as Promise<Page>;
  }

  aggregate(target: TableTarget, query: AggregateQuery, bounds: CallBounds): Promise<Page> {
    const { limit, maxBytes } = query;
    const { namespace, revision } = target;
    const { sql, params, columns, exact, ranges } = compileAggregate(target, query);
    const statements = new CallStatements(this.#book);
    const book = (text: string, outputs: typeof columns): number => statements.numberOf(target, text, outputs);
    const body: CallBody = {
      ...{ kind: 'find', statement: book(sql, columns), params, limit, maxBytes, namespace, revision },
      ...(exact === null ? {} : { exact: book(exact.sql, exact.columns) }),
      ...(ranges === null
        ? {}
        : {
            ranges: { ...ranges.plan, next: book(ranges.next, []), part: book(ranges.part.sql, ranges.part.columns) },
          }),
    };
    return this.#pool.read(newCall(body, bounds, statements.used)) as Promise<Page>;
  }

  count(target: TableTarget, filter: Filter | null, bounds: CallBounds): Promise<number> {
    const { namespace, revision } = target;
    const { sql, params, columns } = compileCount(target, filter);
    const statements = new CallStatements(this.#book);
    const statement = statements.numberOf(target, sql, columns);
    const body: CallBody = { kind: 'count', statement, params, namespace, revision };
    return this.#pool.read(newCall(body, bounds, statements.used)) as Promise<number>;
  }

  write(target: TableTarget, write: Write, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    const { namespace, revision } = target;
    const statements = new CallStatements(this.#book);
    const work = compileWrite(target, write, statements);
    const body: CallBody = { kind: 'write', work, slot, namespace, revision };
    return this.#pool.write(newCall(body, bounds, statements.used)) as Promise<string>;
  }

  batch(batch: Batch, slot: IdempotencySlot | null, bounds: CallBounds): Promise<string> {
    const statements = new CallStatements(this.#book);
    const { target, work, tell } = batchCall(batch, statements);
    const { namespace, revision } = target;
    const body: CallBody = { kind: 'write', work, slot, namespace, revision };
    return this.#pool.write({ ...newCall(body, bounds, statements.used), tell }) as Promise<string>;
  }

  recall(
    kid: string,
    namespace: string,
    key: string,
    now: number,
    bounds: CallBounds,
  ): Promise<RememberedResult | null> {
    const body: CallBody = { kind: 'recall', params: [kid, namespace, key, now] };
    return this.#pool.read(newCall(body, bounds)) as Promise<RememberedResult | null>;
  }
}

const BUSY_WAIT_MS = 10_000;

/**
 * Copies the whole database as it is at this moment into the folder, while others go on writing, and returns the copy's
 * file. @throws Error for a database that cannot be read
 */
export function copyDatabase(file: string, folder: string): string {
  const copy = join(folder, 'snapshot.sqlite');
  const db = new SQLite(file, { fileMustExist: true, timeout: BUSY_WAIT_MS });
  try {
    // The copy need not survive a power failure.
    db.pragma('synchronous = OFF');
    db.prepare('VACUUM INTO ?').run(copy);
    return copy;
  } finally {
    db.close();
  }
}
