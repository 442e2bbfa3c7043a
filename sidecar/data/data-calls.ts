import { ApiError } from '#protocol/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { type CallBounds, StaleSchemaError, type TableTarget } from '../engine/rows.ts';
import { isAway, type SchemaCatalog } from '../schema/catalog.ts';
import type { NamespaceGate } from '../schema/gate.ts';
import type { BatchTables } from './batch-of.ts';
import type { CallContext } from './call-context.ts';
import type { WriteQueue } from './write-queue.ts';

export interface DataLimits {
  readonly maxRows: number;
  readonly maxInsertRows: number;
  readonly maxAnswerBytes: number;
}

export interface DataOptions {
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  readonly gate: NamespaceGate;
  /** Null if write-behind is off and none of its writes are left. */
  readonly queue: WriteQueue | null;
  readonly limits: DataLimits;
  /** For waiting and running together (contract section 5). */
  readonly statementTimeoutMs: number;
}

/** A declared table by its names. */
interface TableName {
  readonly namespace: string;
  readonly table: string;
}

/** Another process may change the schema between reading it and using it, again and again. */
const MAX_ATTEMPTS = 5;

/** Codes of errors that a newer schema than the one read may resolve: refusals of names, and of what does not fit their columns. */
const MAY_BE_OUT_OF_DATE: ReadonlySet<string> = new Set([
  ...['unknown_table', 'unknown_column', 'missing_value', 'invalid_value', 'value_too_long'],
  // Also for keys of an upsert that are not unique yet.
  ...['invalid_filter', 'invalid_sort', 'invalid_request'],
]);

/** Maximum wait for the stored schema before the refusal of a queued write stands. */
const LOOK_AGAIN_MS = 1000;

const LIVE = { isQueued: false };
const FOR_QUEUE = { isQueued: true };

/** Runs work on a declared table beside other operations of its namespace, on a schema that is not out of date. */
export class DataCalls {
  readonly #options: DataOptions;

  constructor(options: DataOptions) {
    this.#options = options;
  }

  bounds(context: CallContext, nowMs = performance.now()): CallBounds {
    const deadline = Math.min(context.deadline, nowMs + this.#options.statementTimeoutMs);
    return { deadline, caller: context.kid };
  }

  /** `work` may be run again, with a newer schema, as long as it has thrown. Its result if it has one at once. */
  onTable<T>(
    { namespace, table }: TableName,
    use: 'read' | 'write',
    context: CallContext,
    work: (target: TableTarget, bounds: CallBounds) => T | Promise<T>,
  ): T | Promise<T> {
    const { gate, catalog } = this.#options;
    const lookUp = (bounds: CallBounds) => catalog.table(namespace, table, bounds, use);
    const attempt = (first?: Promise<T>) =>
      gate.run(namespace, () => this.#attempt(namespace, context, lookUp, work, LIVE, first));
    if (!gate.isOpen(namespace)) return attempt();
    const begunAtMs = performance.now();
    let first: T | Promise<T>;
    try {
      const target = catalog.knownTable(namespace, table);
      if (target === null) return attempt();
      first = work(target, this.bounds(context, begunAtMs));
    } catch (error) {
      if (!mayBeOutOfDate(error)) throw error;
      return attempt(Promise.reject(error));
    }
    if (first instanceof Promise) return attempt(first);
    context.timing.databaseMs += performance.now() - begunAtMs;
    return first;
  }

  /** The same on several tables, by one and the same schema. A table that is not declared is its error. */
  onTables<T>(
    namespace: string,
    names: ReadonlySet<string>,
    context: CallContext,
    work: (tables: BatchTables, bounds: CallBounds) => Promise<T>,
  ): Promise<T> {
    const { gate, catalog } = this.#options;
    const lookUp = (bounds: CallBounds) =>
      tablesOf(namespace, names, (name) => catalog.table(namespace, name, bounds, 'write'));
    return gate.run(namespace, () => this.#attempt(namespace, context, lookUp, work));
  }

  /** @throws StaleSchemaError if a refusal of one of several operations may result from a schema that is out of date */
  async checkRefusals(namespace: string, refusals: readonly ApiError[], bounds: CallBounds): Promise<void> {
    const doubtful = refusals.find(mayBeOutOfDate);
    if (doubtful !== undefined && (await this.#isOutOfDate(doubtful, namespace, bounds))) {
      throw new StaleSchemaError(namespace);
    }
  }

  /** As `onTable`, for a write that is queued: the schema known last is enough if the database does not answer. */
  onTableForQueue<T>(
    { namespace, table }: TableName,
    context: CallContext,
    work: (target: TableTarget) => Promise<T>,
  ): Promise<T> {
    const { gate, catalog } = this.#options;
    const lookUp = (bounds: CallBounds) => catalog.tableForQueue(namespace, table, bounds);
    return gate.run(namespace, () => this.#attempt(namespace, context, lookUp, work, FOR_QUEUE));
  }

  /** As `onTables`, for a batch that is queued. */
  onTablesForQueue<T>(
    namespace: string,
    names: ReadonlySet<string>,
    context: CallContext,
    work: (tables: BatchTables) => Promise<T>,
  ): Promise<T> {
    const { gate, catalog } = this.#options;
    const lookUp = (bounds: CallBounds) =>
      tablesOf(namespace, names, (name) => catalog.tableForQueue(namespace, name, bounds));
    return gate.run(namespace, () => this.#attempt(namespace, context, lookUp, work, FOR_QUEUE));
  }

  async #attempt<Tables, T>(
    namespace: string,
    context: CallContext,
    lookUp: (bounds: CallBounds) => Promise<Tables>,
    work: (tables: Tables, bounds: CallBounds) => T | Promise<T>,
    { isQueued }: { readonly isQueued: boolean } = LIVE,
    first?: Promise<T>,
  ): Promise<T> {
    const bounds = this.bounds(context);
    const look = isQueued
      ? { ...bounds, deadline: Math.min(bounds.deadline, performance.now() + LOOK_AGAIN_MS) }
      : bounds;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        if (first !== undefined && attempt === 1) return await context.timing.database(() => first);
        const tables = await lookUp(bounds);
        if (isQueued) return await work(tables, bounds);
        return await context.timing.database(async () => work(tables, bounds));
      } catch (error) {
        const isOutOfDate = await this.#isOutOfDate(error, namespace, look).catch((failure: unknown) => {
          // Without the database it is unknown whether the schema is out of date: then the refusal of a queued write stands.
          if (isQueued && isAway(failure)) return false;
          throw failure;
        });
        if (!isOutOfDate) throw error;
        this.#options.catalog.forget(namespace);
      }
    }
    throw new ApiError('conflict_retry', `the schema of namespace ${namespace} is being changed; repeat the call`);
  }

  async #isOutOfDate(error: unknown, namespace: string, bounds: CallBounds): Promise<boolean> {
    if (error instanceof StaleSchemaError) return true;
    if (!mayBeOutOfDate(error)) return false;
    const known = await this.#options.catalog.get(namespace, bounds);
    const stored = await this.#options.engine.schemas.readSchema(namespace, bounds);
    return stored?.revision !== known.revision;
  }
}

/** Whether a newer schema than the one read may resolve the error. */
function mayBeOutOfDate(error: unknown): error is StaleSchemaError | ApiError {
  return error instanceof StaleSchemaError || (error instanceof ApiError && MAY_BE_OUT_OF_DATE.has(error.code));
}

async function tablesOf(
  namespace: string,
  names: ReadonlySet<string>,
  targetOf: (name: string) => Promise<TableTarget>,
): Promise<BatchTables> {
  const tables = new Map<string, TableTarget | ApiError>();
  let revision: number | null = null;
  for (const name of names) {
    const target = await targetOf(name).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unknown_table') return error;
      throw error;
    });
    tables.set(name, target);
    if (target instanceof ApiError) continue;
    if (revision !== null && target.revision !== revision) throw new StaleSchemaError(namespace);
    ({ revision } = target);
  }
  return tables;
}
