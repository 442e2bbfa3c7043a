import { ApiError } from '../../db_connector/protocol/errors.ts';
import { parsePayload, parsePayloadText } from '../../db_connector/protocol/payloads.ts';
import { type WriteName, writeOf } from '../data/write-of.ts';
import type { CallBounds, Capabilities, SchemaCalls, StoredSchema, TableTarget } from '../engine/engine.ts';
import { isLasting, type QueuedEntry, type QueuedWork } from '../engine/queues.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import type { JournalEntry } from './journal/entries.ts';

/** Another process may change the schema between reading it and comparing it. */
const MAX_ATTEMPTS = 5;

export interface CompilerOptions {
  readonly engine: { readonly capabilities: Capabilities; readonly schemas: Pick<SchemaCalls, 'readSchema'> };
  readonly catalog: Pick<SchemaCatalog, 'get' | 'table' | 'forget'>;
}

export interface CompiledEntries {
  readonly entries: readonly QueuedEntry[];
  /** Of the schema they were compiled for; null where there is none. */
  readonly revision: number | null;
}

/** Turns what the journal holds into writes for the schema that the database has now. */
export class EntryCompiler {
  readonly #options: CompilerOptions;

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /**
   * An entry that the schema does not allow any more bears its error; that the schema is the stored one is made sure
   * before anything is given up for it.
   * @throws ApiError of what may pass: the database is away, the namespace is being moved
   */
  async compile(namespace: string, entries: readonly JournalEntry[], bounds: CallBounds): Promise<CompiledEntries> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const queued: QueuedEntry[] = [];
      for (const entry of entries) queued.push(await this.#queued(entry, bounds));
      const revision = await this.#knownRevision(namespace, bounds);
      const isSure = queued.every(({ work }) => 'write' in work);
      if (isSure || (await this.stored(namespace, bounds))?.revision === (revision ?? undefined)) {
        return { entries: queued, revision };
      }
      this.#options.catalog.forget(namespace);
    }
    throw new ApiError('conflict_retry', `the schema of namespace ${namespace} is being changed`);
  }

  /** What the database has now. */
  stored(namespace: string, bounds: CallBounds): Promise<StoredSchema | null> {
    return this.#options.engine.schemas.readSchema(namespace, bounds);
  }

  async #knownRevision(namespace: string, bounds: CallBounds): Promise<number | null> {
    try {
      return (await this.#options.catalog.get(namespace, bounds)).revision;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'namespace_unknown') return null;
      throw error;
    }
  }

  async #queued(entry: JournalEntry, bounds: CallBounds): Promise<QueuedEntry> {
    const { position, id, retryOf, kid, op, payload, time } = entry;
    const work = await this.#work(entry, bounds);
    return { position, letterId: retryOf ?? id, isRetry: retryOf !== null, kid, op, payload, time, work };
  }

  async #work(entry: JournalEntry, bounds: CallBounds): Promise<QueuedWork | ApiError> {
    try {
      return await this.#compiled(entry, bounds);
    } catch (error) {
      if (error instanceof ApiError && isLasting(error)) return error;
      throw error;
    }
  }

  async #compiled({ namespace, op, payload, time }: JournalEntry, bounds: CallBounds): Promise<QueuedWork | ApiError> {
    if (!isWriteName(op)) return new ApiError('invalid_request', `${op}: not an operation that is queued`);
    const parsed = parsePayload(op, parsePayloadText(payload));
    const target = await this.#options.catalog.table(namespace, parsed.table, bounds, 'write');
    return this.#onTable(op, parsed, target, time);
  }

  /** What the payload means on its table depends on nothing else, so that any refusal of it lasts. */
  #onTable(
    op: WriteName,
    payload: Parameters<typeof writeOf>[1],
    target: TableTarget,
    time: number,
  ): QueuedWork | ApiError {
    const { capabilities } = this.#options.engine;
    try {
      // A write that was acknowledged is not refused because a limit was lowered since.
      const context = { capabilities, maxInsertRows: Number.POSITIVE_INFINITY, now: time };
      return { target, write: writeOf(op, payload, target.table, context) };
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }
}

function isWriteName(op: string): op is WriteName {
  return op === 'insert' || op === 'update' || op === 'upsert' || op === 'delete';
}
