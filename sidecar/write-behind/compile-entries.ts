import { setImmediate } from 'node:timers/promises';
import { ApiError } from '#protocol/errors.ts';
import { parsePayload, parsePayloadText } from '#protocol/payload-reader.ts';
import { queuedBatchOf } from '../data/batch-of.ts';
import { type WriteName, writeOf } from '../data/write-of.ts';
import type { Capabilities } from '../engine/engine.ts';
import { isCompiled, isLasting, partsOf } from '../engine/model/queue-units.ts';
import type { QueuedBatch, QueuedEntry, QueuedWork, SlotClaim } from '../engine/queues.ts';
import type { CallBounds, TableTarget } from '../engine/rows.ts';
import type { SchemaCalls, StoredSchema } from '../engine/schema-calls.ts';
import type { SchemaCatalog } from '../schema/catalog.ts';
import { acknowledgement, type EntryKey, type JournalEntry } from './journal/entries.ts';
import type { Journal } from './journal/journal.ts';
import type { WaitingEntry } from './queue-state.ts';

/** Another process may change the schema between reading it and comparing it. */
const MAX_ATTEMPTS = 5;
/** Entries that are parsed in one go; then other work of the thread has its turn. */
const TURN_ENTRIES = 100;

interface CompilerOptions {
  readonly engine: { readonly capabilities: Capabilities; readonly schemas: Pick<SchemaCalls, 'readSchema'> };
  readonly catalog: Pick<SchemaCatalog, 'get' | 'table' | 'forget'>;
  readonly journal: Pick<Journal, 'read'>;
  readonly expiryNow?: () => number;
}

export interface CompiledEntries {
  readonly entries: readonly QueuedEntry[];
  /** Revision of the schema that the entries were compiled for; null if the namespace has no schema. */
  readonly revision: number | null;
}

/** An entry whose work is not known. */
type EntryText = Omit<QueuedEntry, 'work'>;

/** Compiles entries of the journal for the schema that the database has now. */
export class EntryCompiler {
  readonly #namespace: string;
  readonly #options: CompilerOptions;

  constructor(namespace: string, options: CompilerOptions) {
    this.#namespace = namespace;
    this.#options = options;
  }

  /**
   * An entry that the schema does not allow any more bears its error; that the schema is the stored one is made sure
   * before anything is given up for it.
   * @throws ApiError of what may pass: the database is away, the namespace is being moved
   */
  async compile(pending: readonly WaitingEntry[], bounds: CallBounds): Promise<CompiledEntries> {
    const known = await this.#known(pending);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const entries = await this.#compiled(known, bounds);
      const revision = await this.#knownRevision(bounds);
      const isSure = entries.every(({ work }) => isCompiled(work));
      if (isSure || ((await this.stored(bounds))?.revision ?? null) === revision) return { entries, revision };
      this.#options.catalog.forget(this.#namespace);
    }
    throw new ApiError('conflict_retry', `the schema of namespace ${this.#namespace} is being changed`);
  }

  /** The schema that the database has now. */
  stored(bounds: CallBounds): Promise<StoredSchema | null> {
    return this.#options.engine.schemas.readSchema(this.#namespace, bounds);
  }

  /** From memory, or else from the journal. */
  async #known(pending: readonly WaitingEntry[]): Promise<(EntryText | QueuedEntry)[]> {
    const missing = pending.filter(({ compiled }) => compiled === null);
    const read = missing.length === 0 ? [] : await this.#options.journal.read(missing);
    let next = 0;
    return pending.map(({ compiled }) => compiled ?? textOf(read[next++] as JournalEntry, this.#options.expiryNow));
  }

  async #compiled(known: readonly (EntryText | QueuedEntry)[], bounds: CallBounds): Promise<QueuedEntry[]> {
    const isCurrent = await this.#currentTargets(known, bounds);
    const compiled: QueuedEntry[] = [];
    let parsed = 0;
    for (const entry of known) {
      if ('work' in entry && targetsOf(entry).every((target) => isCurrent.has(target)) && isCompiled(entry.work)) {
        compiled.push(...inParts(entry));
        continue;
      }
      compiled.push(...inParts({ ...entry, work: await this.#work(entry, bounds) }));
      parsed += 1;
      if (parsed % TURN_ENTRIES === 0) await setImmediate();
    }
    return compiled;
  }

  /** Tables for which entries were compiled when they were accepted, and which the catalog still has. */
  async #currentTargets(known: readonly (EntryText | QueuedEntry)[], bounds: CallBounds): Promise<Set<TableTarget>> {
    const targets = new Set<TableTarget>();
    for (const entry of known) if ('work' in entry) for (const target of targetsOf(entry)) targets.add(target);
    for (const target of targets) {
      if ((await this.#target(target.table.name, bounds)) !== target) targets.delete(target);
    }
    return targets;
  }

  /** Returns the error if the table is not declared any more. */
  async #target(table: string, bounds: CallBounds): Promise<TableTarget | ApiError> {
    try {
      return await this.#options.catalog.table(this.#namespace, table, bounds, 'write');
    } catch (error) {
      if (error instanceof ApiError && isLasting(error)) return error;
      throw error;
    }
  }

  async #knownRevision(bounds: CallBounds): Promise<number | null> {
    try {
      return (await this.#options.catalog.get(this.#namespace, bounds)).revision;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'namespace_unknown') return null;
      throw error;
    }
  }

  async #work({ op, payload, time }: EntryText, bounds: CallBounds): Promise<QueuedEntry['work']> {
    if (op === 'batch') return this.#batch(payload, time, bounds);
    if (!isWriteName(op)) return new ApiError('invalid_request', `${op}: not an operation that is queued`);
    try {
      const parsed = parsePayload(op, parsePayloadText(payload));
      const target = await this.#target(parsed.table, bounds);
      return target instanceof ApiError ? target : this.#onTable(op, parsed, target, time);
    } catch (error) {
      if (error instanceof ApiError && isLasting(error)) return error;
      throw error;
    }
  }

  async #batch(text: string, time: number, bounds: CallBounds): Promise<QueuedBatch | ApiError> {
    const { capabilities } = this.#options.engine;
    try {
      const payload = parsePayload('batch', parsePayloadText(text));
      const tables = new Map<string, TableTarget | ApiError>();
      for (const { table } of payload.operations) {
        if (!tables.has(table)) tables.set(table, await this.#target(table, bounds));
      }
      if (payload.atomic !== false && !capabilities.transactions) {
        return new ApiError('unsupported_operation', 'this database has no transactions, which an atomic batch needs');
      }
      return queuedBatchOf(payload, tables, { capabilities, maxInsertRows: Number.POSITIVE_INFINITY, now: time });
    } catch (error) {
      if (error instanceof ApiError && isLasting(error)) return error;
      throw error;
    }
  }

  /** The meaning of a payload depends only on its table, so any refusal lasts. */
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

/** The operations of a batch that is not atomic; else the entry itself. */
function inParts(entry: QueuedEntry): readonly QueuedEntry[] {
  const { work } = entry;
  return 'parts' in work && !work.isAtomic ? partsOf(entry, work) : [entry];
}

function targetsOf({ work }: QueuedEntry): TableTarget[] {
  if ('write' in work) return [work.target];
  if (!('parts' in work)) return [];
  return work.parts.flatMap((part) => ('write' in part.work ? [part.work.target] : []));
}

function textOf(entry: JournalEntry, expiryNow?: () => number): EntryText {
  const { position, id, retryOf, kid, op, payload, time, key, pending } = entry;
  const claim = key && claimOf({ ...entry, key }, acknowledgement(id, pending), expiryNow);
  return {
    ...{ position, letterId: retryOf ?? id, isRetry: retryOf !== null, kid, op, payload, time },
    ...(claim && { claim }),
  };
}

/**
 * Counts from the moment of the acknowledgement, as the journal's own memory of keys does; by the clock of another sidecar
 * that is further behind, if there is one.
 */
export function claimOf(
  { kid, namespace, time, key }: Pick<JournalEntry, 'kid' | 'namespace' | 'time'> & { readonly key: EntryKey },
  answer: string,
  expiryNow?: () => number,
): SlotClaim {
  const { key: name, fingerprint, expiresAt } = key;
  const now = Math.min(time, expiryNow?.() ?? time);
  return { slot: { kid, namespace, key: name, fingerprint, now, expiresAt }, answer };
}

function isWriteName(op: string): op is WriteName {
  return op === 'insert' || op === 'update' || op === 'upsert' || op === 'delete';
}
