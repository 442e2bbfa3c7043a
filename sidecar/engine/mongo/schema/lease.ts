import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Leases } from '#engine/cluster/leases.ts';
import { Repairs } from '#engine/pending/repairs.ts';
import { type CallBounds, StaleSchemaError, type TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { MAX_SYNC_WAIT_MS } from '#protocol/limits.ts';
import { within } from '../session.ts';
import { repairNamespace } from './changes.ts';
import { type Others, type RunSchemaWork, type SchemaWork, schemasOf, sidecarsOf } from './collections.ts';
import { Registrations } from './registrations.ts';

/**
 * MongoDB cannot check in a write which schema it was compiled for, so sidecars separate changes and operations in time:
 *
 * - A sidecar begins an operation on rows only if it has seen, at most `LEASE_MS` ago, that the schema is the one it
 *   knows and that no change is announced. While it is in use it looks every `POLL_MS`, for all namespaces at once, so
 *   that no operation pays for it.
 * - Meanwhile it is registered in `_sidecars`. A registration that another sidecar sees unchanged for long enough, by its own
 *   monotonic clock, belongs to one that is gone.
 * - A change is announced in `_schemas` first. Each sidecar that sees this lets its operations end, begins none, and
 *   acknowledges. The changing sidecar waits for all registered ones. If one does not answer it waits until the lease
 *   and the longest operation of that sidecar must be over.
 */
const LEASE_MS = 1000;
const POLL_MS = 250;
/** Age at which the registration is renewed. Without success no operation begins after twice that time. */
const BEAT_MS = 2000;
/** A sidecar without operations for this long leaves the list, so that no change waits for it. */
const IDLE_MS = 30_000;
const REFRESH_TIMEOUT_MS = 2000;
/** Operations share a look: it must end, with its reason, within the time of one that waits for it. A server needs some time for it. */
const LOOK_SHARE = 0.75;
const SHORTEST_LOOK_MS = 500;
/** A change that is announced for this long, without a lock, has no sidecar any more. */
const REPAIR_AFTER_MS = 2000;
const ASK_AGAIN_MS = 25;
/** Time for which an operation that was cut off may still run on the server. */
const GRACE_MS = 250;
/** After this, and the longest time of its operations, a sidecar whose registration did not change runs none. */
const GONE_MS = 2 * BEAT_MS + LEASE_MS + GRACE_MS;

export interface LeaseOptions {
  readonly run: RunSchemaWork;
  /** Longest time of an operation on rows. */
  readonly callMs: number;
  readonly leases: Leases;
}

interface Seen {
  readonly revision: number;
  readonly changing: string | null;
  /** First time at which that was seen, `performance.now()` milliseconds. */
  readonly since: number;
}

export class SchemaLease implements Others {
  readonly #id = randomUUID();
  readonly #options: LeaseOptions;
  #seen: ReadonlyMap<string, Seen> = new Map();
  /** Begin of the look that `#seen` is from, and the last renewal; `performance.now()` milliseconds. */
  #seenAt = -Infinity;
  #beatAt = -Infinity;
  #usedAt = -Infinity;
  /** Longest time of an operation that other sidecars have been told. */
  #toldMs: number;
  /** Times of running operations that may take longer than usual. */
  readonly #long: number[] = [];
  #refreshing: Promise<void> | null = null;
  readonly #running = new Map<string, number>();
  readonly #acknowledged = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  readonly #repairs: Repairs;
  readonly #registrations: Registrations;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#registrations = new Registrations(this.#id, GONE_MS);
    this.#toldMs = options.callMs;
    this.#repairs = new Repairs((namespace, bounds) =>
      options.run(bounds, (work) => repairNamespace(work, this, options.leases, namespace, bounds)),
    );
  }

  /**
   * Runs an operation on rows of a table while its schema is the stored one. Its bounds end within the time that a
   * schema change waits for it; nothing of the work may go on after it has settled. An operation that `isLong` keeps
   * its own bounds, and schema changes wait for that.
   * @throws StaleSchemaError, or ApiError `sync_in_progress` if a change takes longer than 3 s
   */
  async run<T>(
    target: TableTarget,
    bounds: CallBounds,
    work: (bounds: CallBounds) => Promise<T>,
    { isLong = false } = {},
  ): Promise<T> {
    this.#usedAt = performance.now();
    const usualMs = this.#options.callMs;
    if (!isLong) return this.#run(target, bounds, work, usualMs);
    const callMs = Math.max(usualMs, bounds.deadline - performance.now());
    this.#long.push(callMs);
    try {
      return await this.#run(target, bounds, work, callMs);
    } finally {
      this.#long.splice(this.#long.indexOf(callMs), 1);
    }
  }

  async #run<T>(
    target: TableTarget,
    bounds: CallBounds,
    work: (bounds: CallBounds) => Promise<T>,
    callMs: number,
  ): Promise<T> {
    const { namespace } = target;
    for (;;) {
      if (callMs > this.#toldMs) this.#beatAt = -Infinity;
      if (this.#isCurrent(target)) break;
      await this.#become(target, bounds);
    }
    this.#running.set(namespace, (this.#running.get(namespace) ?? 0) + 1);
    try {
      return await work({ ...bounds, deadline: Math.min(bounds.deadline, performance.now() + callMs) });
    } finally {
      const left = (this.#running.get(namespace) ?? 1) - 1;
      if (left > 0) this.#running.set(namespace, left);
      else this.#running.delete(namespace);
    }
  }

  async wait(work: SchemaWork, namespace: string, token: string): Promise<void> {
    const since = performance.now();
    for (;;) {
      const others = await this.#registrations.others(work);
      const waitedMs = performance.now() - since;
      const isOver = others.every(
        ({ acks, callMs }) => acks?.[namespace] === token || waitedMs > LEASE_MS + callMs + GRACE_MS,
      );
      // Also for operations of this sidecar: one that repairs a change may have operations that began before the
      // announcement.
      if (isOver && !this.#running.has(namespace)) return;
      await delay(ASK_AGAIN_MS);
    }
  }

  /** Leaves the list of sidecars. Operations must have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPolling();
    await this.#refreshing?.catch(() => {});
    if (this.#beatAt === -Infinity) return;
    this.#beatAt = -Infinity;
    const bounds = { deadline: performance.now() + REFRESH_TIMEOUT_MS };
    await this.#options.run(bounds, async (work) => {
      await sidecarsOf(work.db).deleteOne({ _id: this.#id }, work.time());
    });
  }

  #isCurrent({ namespace, revision }: TableTarget): boolean {
    const now = performance.now();
    if (this.#seenAt < now - LEASE_MS || this.#beatAt < now - 2 * BEAT_MS) return false;
    const seen = this.#seen.get(namespace);
    return seen !== undefined && seen.revision === revision && seen.changing === null;
  }

  /** Looks until the schema is the target's, is another one, or a change takes too long. */
  async #become(target: TableTarget, bounds: CallBounds): Promise<void> {
    const until = Math.min(bounds.deadline, performance.now() + MAX_SYNC_WAIT_MS);
    for (;;) {
      const begunAt = performance.now();
      // A look that runs may have begun before the change that the caller knows of.
      while (this.#seenAt < begunAt || this.#beatAt < begunAt - 2 * BEAT_MS) await within(this.#refresh(), bounds);
      if (this.#isCurrent(target)) return;
      const seen = this.#seen.get(target.namespace);
      if (seen === undefined || (seen.changing === null && seen.revision !== target.revision)) {
        throw new StaleSchemaError(target.namespace);
      }
      if (seen.changing === null) {
        // The schema is the same, but the look took longer than the lease.
        if (performance.now() > until) throw new ApiError('database_timeout', 'the database answers too slowly');
        continue;
      }
      // In the background, however long it takes; operations wait for it as for any change.
      if (seen.since < performance.now() - REPAIR_AFTER_MS && !this.#isClosed) {
        void this.#repairs.attempt(target.namespace);
      }
      if (performance.now() + ASK_AGAIN_MS > until) {
        const reason = `a schema change of namespace ${target.namespace} is running or was cut off`;
        throw new ApiError('sync_in_progress', `${reason}; try again`);
      }
      await delay(ASK_AGAIN_MS);
    }
  }

  #refresh(): Promise<void> {
    this.#startPolling();
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Registers first, so that a change announced after this look waits for this sidecar. */
  #look(): Promise<void> {
    const lookMs = Math.min(REFRESH_TIMEOUT_MS, Math.max(SHORTEST_LOOK_MS, LOOK_SHARE * this.#options.callMs));
    return this.#options.run({ deadline: performance.now() + lookMs }, async (work) => {
      if (this.#beatAt < performance.now() - BEAT_MS) await work.look(() => this.#beat(work));
      const begunAt = performance.now();
      const projection = { revision: 1, 'changing.token': 1 };
      const found = await work.look((db, time) =>
        schemasOf(db)
          .find({}, { projection, ...time })
          .toArray(),
      );
      this.#seen = new Map(
        found.map(({ _id, revision, changing }) => [
          _id,
          this.#noticed(_id, revision, changing?.token ?? null, begunAt),
        ]),
      );
      this.#seenAt = begunAt;
      await this.#acknowledge(work);
    });
  }

  #noticed(namespace: string, revision: number, changing: string | null, at: number): Seen {
    const before = this.#seen.get(namespace);
    return { revision, changing, since: before?.changing === changing ? before.since : at };
  }

  async #beat(work: SchemaWork): Promise<void> {
    const begunAt = performance.now();
    const callMs = Math.ceil(Math.max(this.#options.callMs, ...this.#long));
    await sidecarsOf(work.db).updateOne(
      { _id: this.#id },
      [{ $set: { until: { $add: ['$$NOW', GONE_MS + callMs] }, callMs } }],
      { upsert: true, ...work.time() },
    );
    this.#beatAt = begunAt;
    this.#toldMs = callMs;
    // So that a change need not wait for sidecars that are gone.
    await this.#registrations.others(work);
  }

  /** After this nothing begins in these namespaces until a later look finds the change done. */
  async #acknowledge(work: SchemaWork): Promise<void> {
    for (const [namespace, { changing }] of this.#seen) {
      if (changing === null || this.#running.has(namespace) || this.#acknowledged.get(namespace) === changing) continue;
      await sidecarsOf(work.db).updateOne(
        { _id: this.#id },
        { $set: { [`acks.${namespace}`]: changing } },
        work.time(),
      );
      this.#acknowledged.set(namespace, changing);
    }
  }

  #startPolling(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setInterval(() => {
      if (this.#usedAt < performance.now() - IDLE_MS) this.#leave();
      // A new operation looks by itself and reports the error to its caller.
      else this.#refresh().catch(() => {});
    }, POLL_MS);
    this.#timer.unref();
  }

  #stopPolling(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Nothing begins before the next look, which registers again. */
  #leave(): void {
    if (this.#running.size > 0 || this.#refreshing !== null) return;
    this.#stopPolling();
    this.#seenAt = -Infinity;
    this.#beatAt = -Infinity;
    this.#acknowledged.clear();
    const bounds = { deadline: performance.now() + REFRESH_TIMEOUT_MS };
    this.#refreshing = this.#options
      .run(bounds, async (work) => {
        await sidecarsOf(work.db).deleteOne({ _id: this.#id }, work.time());
      })
      // The registration ends by itself when its time is over.
      .catch(() => {})
      .finally(() => {
        this.#refreshing = null;
      });
  }
}
