import { ApiError } from '../../db_connector/protocol/errors.ts';
import type { Table } from '../../db_connector/protocol/schema.ts';
import type { CallBounds, SchemaCalls, StoredSchema, TableTarget } from '../engine/engine.ts';
import { checkMoveMark, type MarkReader, type MoveMark, readMoveMark } from './move-mark.ts';

interface Entry {
  readonly stored: StoredSchema;
  /** One object per table for as long as the entry lives, so that callers may hang compiled things on it. */
  readonly targets: ReadonlyMap<string, TableTarget>;
  /** Read after the schema: whoever sets a mark grows the revision afterwards, so that all read both again. */
  readonly mark: MoveMark | null;
}

type CatalogEngine = { readonly schemas: Pick<SchemaCalls, 'readSchema'> } & MarkReader;

/**
 * The stored schema of each namespace, kept in memory. It may be out of date where another process has synced:
 * the engine then throws `StaleSchemaError`, and the caller forgets the namespace and starts again.
 */
export class SchemaCatalog {
  readonly #engine: CatalogEngine;
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();

  readonly #now: () => number;

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
    checkMoveMark(namespace, entry.mark, use);
    const target = entry.targets.get(table);
    if (target === undefined) {
      throw new ApiError('unknown_table', `table ${table} is not declared in namespace ${namespace}`);
    }
    return target;
  }

  /** What is being read right now is forgotten too: it may be older than the reason to forget. */
  forget(namespace: string): void {
    this.#entries.delete(namespace);
    this.#loading.delete(namespace);
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
    return { stored, targets: targetsOf(stored), mark };
  }
}

function targetsOf(stored: StoredSchema): Map<string, TableTarget> {
  const target = (table: Table): [string, TableTarget] => [
    table.name,
    { namespace: stored.namespace, revision: stored.revision, table },
  ];
  return new Map(stored.schema.tables.map(target));
}
