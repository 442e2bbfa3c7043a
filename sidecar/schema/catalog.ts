import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { unknownTable } from '#protocol/unknown-names.ts';
import type { CallBounds, TableTarget } from '../engine/rows.ts';
import type { SchemaCalls, StoredSchema } from '../engine/schema-calls.ts';
import { checkMoveMark, type MarkReader, type MoveMark, readMoveMark } from './move-mark.ts';

interface Entry {
  readonly stored: StoredSchema;
  /** A single object per table as long as the entry lives, so that callers may attach compiled statements to it. */
  readonly targets: ReadonlyMap<string, TableTarget>;
  /** Read after the schema: a command sets the mark before it grows the revision, so that every sidecar reads both again. */
  readonly mark: MoveMark | null;
}

/** A database that did not answer is asked again for an accepted write only after this. */
const REST_MS = 1000;
/** How long an accepted write waits for the schema where an older one is known. */
const PATIENCE_MS = 1000;

type CatalogEngine = { readonly schemas: Pick<SchemaCalls, 'readSchema'> } & MarkReader;

/**
 * The stored schema of each namespace, kept in memory. It may be out of date where another process has synced:
 * the engine then throws `StaleSchemaError`, and the caller forgets the namespace and starts again.
 */
export class SchemaCatalog {
  readonly #engine: CatalogEngine;
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();

  /** The entry of each namespace that was known last, also after it was forgotten. */
  readonly #lastKnown = new Map<string, Entry>();
  readonly #now: () => number;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #onRead: (stored: StoredSchema) => void = () => {};

  /** `now` in epoch milliseconds. */
  constructor(engine: CatalogEngine, now: () => number = Date.now) {
    this.#engine = engine;
    this.#now = now;
  }

  /** @throws ApiError `namespace_unknown` before the first sync. */
  async get(namespace: string, bounds: CallBounds): Promise<StoredSchema> {
    return (await this.#entry(namespace, bounds)).stored;
  }

  /** @throws ApiError `namespace_unknown`, `unknown_table`, and `sync_in_progress` while the namespace is moved. */
  async table(
    namespace: string,
    table: string,
    bounds: CallBounds,
    use: 'read' | 'write' = 'write',
  ): Promise<TableTarget> {
    const entry = this.#entries.get(namespace) ?? (await this.#entry(namespace, bounds));
    return tableOf(entry, table, use);
  }

  /** As `table`, if nothing must be read for it; else null. @throws ApiError `unknown_table` */
  knownTable(namespace: string, table: string): TableTarget | null {
    const entry = this.#entries.get(namespace);
    return entry === undefined ? null : (entry.targets.get(table) ?? tableOf(entry, table, 'read'));
  }

  /**
   * As `table`, for a write that is only to be checked and queued: while the database does not answer, the schema known
   * last is good enough. The write is compiled again when it is applied.
   */
  async tableForQueue(namespace: string, table: string, bounds: CallBounds): Promise<TableTarget> {
    const entry = this.#entries.get(namespace) ?? (await this.#entryForQueue(namespace, bounds));
    return tableOf(entry, table, 'write');
  }

  /** As `get`, with the same leniency. */
  async getForQueue(namespace: string, bounds: CallBounds): Promise<StoredSchema> {
    return (await this.#entryForQueue(namespace, bounds)).stored;
  }

  /** Gives a schema that was kept elsewhere, for a database that is away. What the database answers comes before it. */
  seed(stored: StoredSchema): void {
    if (this.#lastKnown.has(stored.namespace)) return;
    this.#lastKnown.set(stored.namespace, { stored, targets: targetsOf(stored), mark: null });
  }

  /** The listener gets each schema that is read from the database, for those who keep a copy. */
  onRead(listener: (stored: StoredSchema) => void): void {
    this.#onRead = listener;
  }

  /** Forgets a running read as well: its result may be older than the reason to forget. */
  forget(namespace: string): void {
    this.#entries.delete(namespace);
    this.#loading.delete(namespace);
  }

  async #entryForQueue(namespace: string, bounds: CallBounds): Promise<Entry> {
    const last = this.#lastKnown.get(namespace);
    if (last === undefined) return this.#entry(namespace, bounds);
    const now = performance.now();
    if (now < this.#restUntilMs) return this.#entries.get(namespace) ?? last;
    try {
      return await this.#entry(namespace, { deadline: Math.min(bounds.deadline, now + PATIENCE_MS) });
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#restUntilMs = performance.now() + REST_MS;
      return last;
    }
  }

  async #entry(namespace: string, bounds: CallBounds): Promise<Entry> {
    const known = this.#entries.get(namespace);
    if (known !== undefined) {
      return known;
    }
    const underWay = this.#loading.get(namespace);
    if (underWay !== undefined) {
      return underWay;
    }
    const loading = this.#load(namespace, bounds);
    this.#loading.set(namespace, loading);
    try {
      const entry = await loading;
      // With a mark it is read again each time, so that the end of the move is seen at once.
      if (this.#loading.get(namespace) === loading && entry.mark === null) {
        this.#entries.set(namespace, entry);
      }
      return entry;
    } finally {
      if (this.#loading.get(namespace) === loading) {
        this.#loading.delete(namespace);
      }
    }
  }

  async #load(namespace: string, bounds: CallBounds): Promise<Entry> {
    const stored = await this.#engine.schemas.readSchema(namespace, bounds);
    if (stored === null) {
      throw new ApiError('namespace_unknown', `namespace ${namespace} has no schema yet; sync one first`);
    }
    const mark = await readMoveMark(this.#engine, namespace, this.#now(), bounds);
    const entry = { stored, targets: targetsOf(stored), mark };
    this.#lastKnown.set(namespace, entry);
    this.#onRead(stored);
    return entry;
  }
}

/** Whether nothing is known of what the database holds now. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'database_error' || error.code === 'database_timeout');
}

function tableOf({ stored, targets, mark }: Entry, table: string, use: 'read' | 'write'): TableTarget {
  checkMoveMark(stored.namespace, mark, use);
  const target = targets.get(table);
  if (target !== undefined) return target;
  throw unknownTable(stored.namespace, table, targets.keys());
}

function targetsOf(stored: StoredSchema): Map<string, TableTarget> {
  const target = (table: Table): [string, TableTarget] => [
    table.name,
    { namespace: stored.namespace, revision: stored.revision, table },
  ];
  return new Map(stored.schema.tables.map(target));
}
