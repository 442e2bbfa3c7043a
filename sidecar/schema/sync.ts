import { setTimeout as delay } from 'node:timers/promises';
import { canonicalJson } from '#protocol/canonical-json.ts';
import { ApiError } from '#protocol/errors.ts';
import { MAX_EXTEND_WAIT_MS, MAX_SYNC_WAIT_MS } from '#protocol/limits.ts';
import {
  MAIN_PART,
  parsePart,
  parseSchema,
  type Renames,
  type Schema,
  schemaHash,
  visibleSchema,
} from '#protocol/schema.ts';
import type { Lease } from '../engine/cluster/leases.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { StaleSchemaError } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { applyDerived } from './apply-derived.ts';
import type { SchemaCatalog } from './catalog.ts';
import { checkDerivedUnique } from './check-derived.ts';
import { checkScales } from './check-scales.ts';
import { declarePart } from './declare-part.ts';
import { type DerivedStages, derivedStages, withoutFilling } from './derived-stages.ts';
import type { NamespaceGate, SyncPlace } from './gate.ts';
import { checkMoveMark, readMoveMark } from './move-mark.ts';
import { planSchema, type RemovedMode } from './plan.ts';
import {
  checkLacking,
  type Declared,
  deniedText,
  inProgress,
  isCurrent,
  isPassing,
  partHash,
  resultOf,
  type SyncRequest,
  type SyncResult,
} from './sync-request.ts';

/** A sync whose caller is gone runs on (contract section 2); what stops it at last is this. */
const APPLY_TIMEOUT_MS = 3_600_000;
/** How often a part that waits looks whether another sidecar has changed the schema. */
const LOOK_EVERY_MS = 200;
/** Another process may change the schema between reading and changing it. */
const MAX_ATTEMPTS = 5;
/** For queued writes, at the end of a filling whose caller may be gone. */
const DRAIN_MS = 30_000;

export interface SyncOptions {
  readonly engine: Engine;
  readonly catalog: SchemaCatalog;
  readonly gate: NamespaceGate;
  readonly removed: RemovedMode;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: EngineLog;
  /**
   * Resolves when the queued writes of the namespace, which were checked against the schema as it is, are applied.
   * @throws ApiError `write_buffer_halted`
   */
  readonly drain: (namespace: string, call: { readonly deadline: number }) => Promise<void>;
  /** How long a part waits for others; default 30 s. */
  readonly extendWaitMs?: number;
}

interface Running {
  readonly declaration: string;
  readonly result: Promise<SyncResult>;
}

/** Held for the time of a change. */
interface Holds {
  readonly place: SyncPlace;
  readonly lease: Lease;
}

/** The whole schema of the namespace that a sync leads to. */
interface Target {
  readonly schema: Schema;
  readonly renames: Renames;
}

/**
 * schema.sync (contract section 6) and schema.extend (section 11). At most one change a namespace at a time; the same
 * declaration sent again joins it. A second sync is refused, a part waits, and a sync waits for a part.
 */
export class SchemaSync {
  readonly #options: SyncOptions;
  /** The latest of each part, by namespace and part. */
  readonly #running = new Map<string, Running>();

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  /** @throws ApiError `invalid_schema`, `sync_in_progress` and the refusals of contract sections 6 and 11. */
  async sync(request: SyncRequest): Promise<SyncResult> {
    const isMain = request.part === MAIN_PART;
    const parsed = isMain ? parseSchema(request.schema) : parsePart(request.schema);
    const declaration = canonicalJson({ dryRun: request.dryRun, schema: request.schema });
    const key = `${request.namespace} ${request.part}`;
    const running = this.#running.get(key);
    if (running?.declaration === declaration) return running.result;
    if (isMain && running !== undefined) throw inProgress(request.namespace);
    const declared = { ...parsed, hash: schemaHash(parsed.schema) };
    const isLatest = (): boolean => this.#running.get(key) === latest;
    const result = isMain ? this.#main(request, declared) : this.#extend(request, declared, isLatest);
    const latest = { declaration, result };
    this.#running.set(key, latest);
    try {
      return await result;
    } finally {
      if (isLatest()) this.#running.delete(key);
    }
  }

  async #main(request: SyncRequest, declared: Declared): Promise<SyncResult> {
    const { extendWaitMs = MAX_EXTEND_WAIT_MS } = this.#options;
    return this.#run(request, declared, await this.#place(request, performance.now() + extendWaitMs));
  }

  /**
   * Waits for what runs, and for what the part extends and nobody has declared yet, so that bundles start in any order.
   * While it waits it keeps nobody away.
   */
  async #extend(request: SyncRequest, declared: Declared, isLatest: () => boolean): Promise<SyncResult> {
    const { namespace, deadline } = request;
    const { extendWaitMs = MAX_EXTEND_WAIT_MS } = this.#options;
    const until = Math.min(deadline, performance.now() + extendWaitMs);
    for (;;) {
      try {
        return await this.#run(request, declared, await this.#place(request, until));
      } catch (error) {
        if (!isPassing(error) || performance.now() >= until) throw error;
      }
      await delay(LOOK_EVERY_MS);
      if (!isLatest()) throw new ApiError('sync_in_progress', `part ${request.part} of ${namespace} was declared anew`);
    }
  }

  async #place({ namespace }: SyncRequest, until: number): Promise<SyncPlace> {
    const place = await this.#options.gate.awaitSync(namespace, Math.max(0, until - performance.now()));
    if (place === null) throw inProgress(namespace);
    return place;
  }

  async #run(request: SyncRequest, declared: Declared, place: SyncPlace): Promise<SyncResult> {
    const { engine, catalog, drain } = this.#options;
    const { namespace, deadline } = request;
    try {
      await drain(namespace, request);
      const stored = await engine.schemas.readSchema(namespace, { deadline });
      if (isCurrent(stored, request, declared)) return resultOf(request, declared, 'unchanged', []);
      checkLacking(stored, request, declared);
      return await this.#locked(request, (lease) => this.#change(request, declared, { place, lease }));
    } finally {
      catalog.forget(namespace);
      place.release();
    }
  }

  async #locked<T>({ namespace, deadline }: SyncRequest, work: (lease: Lease) => Promise<T>): Promise<T> {
    const lock = await this.#options.engine.leases.hold(namespace, { deadline }, MAX_SYNC_WAIT_MS);
    if (lock === null) throw inProgress(namespace);
    try {
      return await work(lock);
    } finally {
      await lock.release();
    }
  }

  async #change(request: SyncRequest, declared: Declared, holds: Holds): Promise<SyncResult> {
    const { engine, now } = this.#options;
    const { namespace, deadline } = request;
    checkMoveMark(namespace, await readMoveMark(engine, namespace, now(), { deadline }), 'write');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      try {
        return await this.#attempt(request, declared, holds);
      } catch (error) {
        if (!(error instanceof StaleSchemaError)) throw error;
        await holds.lease.check({ deadline });
      }
    }
    throw new ApiError('conflict_retry', `others change the schema of namespace ${namespace} all the time`);
  }

  async #attempt(request: SyncRequest, declared: Declared, { place, lease }: Holds): Promise<SyncResult> {
    const { engine, removed } = this.#options;
    const { namespace, dryRun, deadline } = request;
    const stored = await engine.schemas.readSchema(namespace, { deadline });
    if (isCurrent(stored, request, declared)) return resultOf(request, declared, 'unchanged', []);
    // A change of another sidecar after this has another revision than was read; what it has declared before it is newer.
    if (!lease.isFresh) await lease.check({ deadline });
    // For the caller a column that an earlier sync has begun to fill is not there yet.
    const known = stored === null ? null : visibleSchema(stored.schema);
    const whole = declarePart(stored?.schema ?? null, request.part, declared);
    const target = { schema: withoutFilling(whole.schema), renames: whole.renames };
    checkScales(target.schema, engine.capabilities);
    const plan = planSchema(known, target.schema, target.renames, removed);
    if (plan.unsupported.length > 0) throw new ApiError('unsupported_change', plan.unsupported.join('; '));
    if (removed === 'deny' && plan.isDestructive) {
      if (dryRun) return resultOf(request, declared, 'denied', plan.entries);
      throw new ApiError('destructive_denied', deniedText(plan.entries));
    }
    await this.#apply(request, target, stored, plan.entries.length, place);
    const isOnlyCleared = stored !== null && partHash(stored, request) === declared.hash;
    return resultOf(request, declared, isOnlyCleared ? 'unchanged' : dryRun ? 'planned' : 'applied', plan.entries);
  }

  async #apply(
    request: SyncRequest,
    declared: Target,
    stored: StoredSchema | null,
    steps: number,
    place: SyncPlace,
  ): Promise<void> {
    const { namespace, dryRun } = request;
    const startedAt = performance.now();
    const stages = derivedStages(stored?.schema ?? null, declared.schema, declared.renames);
    // An earlier change that is half done is finished first, and then the sync is planned again.
    if (stages !== null && stored !== null && stored.isUnfinished !== true) {
      await this.#applyInStages(request, declared, stored, stages, place);
    } else {
      if (!dryRun) await this.#close(request, place);
      await this.#applyAtOnce(request, declared, stored, declared.schema);
    }
    if (dryRun) return;
    this.#options.log('info', 'schema applied', { namespace, steps, ms: Math.round(performance.now() - startedAt) });
  }

  async #applyInStages(
    request: SyncRequest,
    declared: Target,
    stored: StoredSchema,
    stages: DerivedStages,
    place: SyncPlace,
  ): Promise<void> {
    const { engine, catalog, removed, now, log } = this.#options;
    const { namespace, dryRun, deadline } = request;
    const { schema, renames } = declared;
    // A dry run over a million rows takes longer than its caller waits, and is joined as a real one is.
    const bounds = () => ({ deadline: performance.now() + APPLY_TIMEOUT_MS });
    await this.#applyAtOnce({ ...request, dryRun: true }, declared, stored, stages.before);
    await checkDerivedUnique(engine, stored, stages, schema.tables, renames, bounds);
    if (dryRun) return;
    const close = async () => {
      await this.#close({ ...request, deadline: Math.max(deadline, performance.now() + DRAIN_MS) }, place);
    };
    const open = () => {
      catalog.forget(namespace);
      place.open();
    };
    const change = { engine, namespace, removed, now, log, bounds, close, open };
    await applyDerived(change, stored, schema, stages, renames);
  }

  async #close(request: SyncRequest, place: SyncPlace): Promise<void> {
    await place.close();
    await this.#options.drain(request.namespace, request);
  }

  async #applyAtOnce(
    { namespace, dryRun, deadline }: SyncRequest,
    { renames }: Target,
    from: StoredSchema | null,
    to: Schema,
  ): Promise<void> {
    const { engine, now, removed } = this.#options;
    const { steps } = planSchema(from?.schema ?? null, to, renames, removed);
    const change = { namespace, from, to, hash: schemaHash(to), steps, dryRun, now: now() };
    const timeoutMs = performance.now() + APPLY_TIMEOUT_MS;
    await engine.schemas.applySchema(change, { deadline: dryRun ? deadline : timeoutMs });
  }
}
