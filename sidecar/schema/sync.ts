import { canonicalJson } from '../../db_connector/protocol/canonical-json.ts';
import { ApiError } from '../../db_connector/protocol/errors.ts';
import type { JsonObject } from '../../db_connector/protocol/json-value.ts';
import { type DeclaredSchema, parseSchema, schemaHash } from '../../db_connector/protocol/schema.ts';
import { type Engine, type EngineLog, StaleSchemaError, type StoredSchema } from '../engine/engine.ts';
import type { SchemaCatalog } from './catalog.ts';
import type { NamespaceGate, SyncPlace } from './gate.ts';
import { checkMoveMark, readMoveMark } from './move-mark.ts';
import { NamespaceLock } from './namespace-lock.ts';
import { planSchema, type RemovedMode, type SchemaPlan } from './plan.ts';
import type { PlanEntry } from './plan-entry.ts';

/** A sync whose caller is gone runs on (contract section 2); what stops it at last is this. */
const APPLY_TIMEOUT_MS = 3_600_000;
/** Another process may change the schema between reading and changing it. */
const MAX_ATTEMPTS = 5;

export interface SyncOptions {
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  readonly gate: NamespaceGate;
  readonly removed: RemovedMode;
  /** From `lockOwner`. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
  /**
   * Resolves when the queued writes of the namespace, which were checked against the schema as it is, are applied.
   * @throws ApiError `write_buffer_halted`
   */
  readonly drain: (namespace: string, call: { readonly deadline: number }) => Promise<void>;
}

export interface SyncRequest {
  readonly namespace: string;
  readonly schema: JsonObject;
  readonly dryRun: boolean;
  /** Until when it may wait for others, `performance.now()` milliseconds. */
  readonly deadline: number;
}

export interface SyncResult {
  readonly namespace: string;
  readonly hash: string;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly status: 'unchanged' | 'planned' | 'applied' | 'denied';
  readonly plan: readonly PlanEntry[];
  /** Unknown properties of the declaration, which were ignored; absent where there are none. */
  readonly warnings?: readonly string[];
}

interface Running {
  readonly declaration: string;
  readonly result: Promise<SyncResult>;
}

/** What one sync declares, and what it found. */
interface Declared extends DeclaredSchema {
  readonly hash: string;
}

/** schema.sync (contract section 6). At most one a namespace; the same declaration sent again joins it. */
export class SchemaSync {
  readonly #options: SyncOptions;
  readonly #running = new Map<string, Running>();

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  /** @throws ApiError `invalid_schema`, `sync_in_progress` and the refusals of contract section 6. */
  async sync(request: SyncRequest): Promise<SyncResult> {
    const parsed = parseSchema(request.schema);
    const declaration = canonicalJson({ dryRun: request.dryRun, schema: request.schema });
    const running = this.#running.get(request.namespace);
    if (running?.declaration === declaration) return running.result;
    const place = running === undefined ? this.#options.gate.beginSync(request.namespace) : null;
    if (place === null) throw inProgress(request.namespace);
    const result = this.#run(request, { ...parsed, hash: schemaHash(parsed.schema) }, place);
    this.#running.set(request.namespace, { declaration, result });
    return result;
  }

  async #run(request: SyncRequest, declared: Declared, place: SyncPlace): Promise<SyncResult> {
    const { engine, catalog, drain } = this.#options;
    const { namespace, deadline } = request;
    try {
      await drain(namespace, request);
      const stored = await engine.schemas.readSchema(namespace, { deadline });
      if (isCurrent(stored, declared)) return resultOf(request, declared, 'unchanged', []);
      return await this.#locked(request, () => this.#change(request, declared, place));
    } finally {
      catalog.forget(namespace);
      this.#running.delete(namespace);
      place.release();
    }
  }

  async #locked<T>({ namespace, deadline }: SyncRequest, work: () => Promise<T>): Promise<T> {
    const lock = await NamespaceLock.acquire(namespace, this.#options, deadline);
    if (lock === null) throw inProgress(namespace);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  async #change(request: SyncRequest, declared: Declared, place: SyncPlace): Promise<SyncResult> {
    const { engine, now } = this.#options;
    const { namespace, deadline } = request;
    checkMoveMark(namespace, await readMoveMark(engine, namespace, now(), { deadline }), 'write');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      try {
        return await this.#attempt(request, declared, place);
      } catch (error) {
        if (!(error instanceof StaleSchemaError)) throw error;
      }
    }
    throw new ApiError('conflict_retry', `others change the schema of namespace ${namespace} all the time`);
  }

  async #attempt(request: SyncRequest, declared: Declared, place: SyncPlace): Promise<SyncResult> {
    const { engine, removed, drain } = this.#options;
    const { namespace, dryRun, deadline } = request;
    const stored = await engine.schemas.readSchema(namespace, { deadline });
    if (isCurrent(stored, declared)) return resultOf(request, declared, 'unchanged', []);
    const plan = planSchema(stored?.schema ?? null, declared.schema, declared.renames, removed);
    if (plan.unsupported.length > 0) throw new ApiError('unsupported_change', plan.unsupported.join('; '));
    if (removed === 'deny' && plan.isDestructive) {
      if (dryRun) return resultOf(request, declared, 'denied', plan.entries);
      throw new ApiError('destructive_denied', deniedText(plan.entries));
    }
    if (!dryRun) {
      await place.close();
      await drain(namespace, request);
    }
    await this.#apply(request, declared, stored, plan);
    return resultOf(request, declared, dryRun ? 'planned' : 'applied', plan.entries);
  }

  async #apply(
    { namespace, dryRun, deadline }: SyncRequest,
    { schema: to, hash }: Declared,
    from: StoredSchema | null,
    { steps }: SchemaPlan,
  ): Promise<void> {
    const { engine, now, log } = this.#options;
    const startedAt = performance.now();
    const change = { namespace, from, to, hash, steps, dryRun, now: now() };
    await engine.schemas.applySchema(change, { deadline: dryRun ? deadline : startedAt + APPLY_TIMEOUT_MS });
    if (dryRun) return;
    log('info', 'schema applied', { namespace, steps: steps.length, ms: Math.round(performance.now() - startedAt) });
  }
}

function isCurrent(stored: StoredSchema | null, declared: Declared): boolean {
  return stored !== null && stored.isUnfinished !== true && stored.hash === declared.hash;
}

function resultOf(
  { namespace, dryRun }: SyncRequest,
  { hash, warnings }: Declared,
  status: SyncResult['status'],
  plan: readonly PlanEntry[],
): SyncResult {
  const result = { namespace, hash, changed: status !== 'unchanged', dryRun, status, plan };
  return warnings.length === 0 ? result : { ...result, warnings };
}

function deniedText(entries: readonly PlanEntry[]): string {
  const names = entries
    .filter((entry) => entry.destructive)
    .map(({ kind, table, column }) => `${kind} ${column === undefined ? table : `${table}.${column}`}`);
  return `the server denies changes that remove or narrow: ${names.join(', ')}`;
}

function inProgress(namespace: string): ApiError {
  return new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again`);
}
