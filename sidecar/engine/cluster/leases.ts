import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '#protocol/errors.ts';
import { MAX_SYNC_WAIT_MS } from '#protocol/limits.ts';
import type { EngineLog } from '../log.ts';
import type { CallBounds } from '../rows.ts';
import type { ClusterCalls, LeaseRow } from './cluster-calls.ts';

/** A lease is dead if the taker has seen the same row for this long, by its own monotonic clock (contract section 6). */
export const LEASE_DEAD_MS = 10_000;
const RENEW_EVERY_MS = 3000;
const RENEWAL_TIMEOUT_MS = 5000;
const RELEASE_TIMEOUT_MS = 10_000;
const ASK_AGAIN_MS = 200;
/** Half of the time after which another sidecar takes a lease. */
const LATE_MS = LEASE_DEAD_MS / 2;
/** Far below the time after which another sidecar takes a lease. */
const FRESH_MS = 1000;

export interface LeasesOptions {
  /** Id of this sidecar; it takes over its own old leases at once. */
  readonly instance: () => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow?: () => number;
  readonly log: EngineLog;
}

/** Options of an engine's leases. A command has an id of its own, as it may run beside the sidecar of its folder. */
export function leasesOptions(options: Omit<LeasesOptions, 'instance'> & Partial<LeasesOptions>): LeasesOptions {
  const { instance, now, monotonicNow, log } = options;
  const own = randomUUID();
  return { instance: instance ?? (() => own), now, log, ...(monotonicNow && { monotonicNow }) };
}

interface Sighting {
  readonly row: LeaseRow;
  /** Monotonic; when the row was seen first. */
  readonly since: number;
}

/** Leases of this process, and what it has seen of those of others. */
export class Leases {
  readonly #calls: ClusterCalls;
  readonly #options: LeasesOptions;
  /** Null while a lease is being taken. */
  readonly #held = new Map<string, Lease | null>();
  readonly #seen = new Map<string, Sighting>();

  constructor(calls: ClusterCalls, options: LeasesOptions) {
    this.#calls = calls;
    this.#options = options;
  }

  /** Null if another sidecar, or another part of this one, holds the lease for longer than `waitMs`. */
  async hold(name: string, bounds: CallBounds, waitMs = 0): Promise<Lease | null> {
    const until = Math.min(bounds.deadline, performance.now() + waitMs);
    for (;;) {
      const lease = await this.#take(name, bounds);
      if (lease !== null) return lease;
      if (performance.now() + ASK_AGAIN_MS > until) return null;
      await delay(ASK_AGAIN_MS);
    }
  }

  /**
   * Runs work under the lease that this process holds, or takes it for the time of the work.
   * @throws ApiError `sync_in_progress` if another sidecar holds it for longer than `waitMs`
   */
  async within<T>(
    name: string,
    bounds: CallBounds,
    work: (lease: Lease) => Promise<T>,
    waitMs = MAX_SYNC_WAIT_MS,
  ): Promise<T> {
    const held = this.#held.get(name) ?? null;
    if (held !== null) return work(held);
    const lease = await this.hold(name, bounds, waitMs);
    if (lease === null) throw leaseHeld(name);
    try {
      return await work(lease);
    } finally {
      await lease.release();
    }
  }

  /** Whether a sidecar that lives may hold the lease. */
  async isHeld(name: string, bounds: CallBounds): Promise<boolean> {
    if (this.#held.has(name)) return true;
    const row = await this.#calls.readLease(name, bounds);
    return row !== null && !this.#isFree(row);
  }

  /** Looks at all leases, so that a dead one is known as such when it is wanted. */
  async look(bounds: CallBounds): Promise<void> {
    const rows = await this.#calls.listLeases(bounds);
    for (const row of rows) this.#isFree(row);
    const present = new Set(rows.map(({ name }) => name));
    for (const name of this.#seen.keys()) if (!present.has(name)) this.#seen.delete(name);
  }

  async #take(name: string, bounds: CallBounds): Promise<Lease | null> {
    if (this.#held.has(name)) return null;
    this.#held.set(name, null);
    try {
      const from = await this.#calls.readLease(name, bounds);
      if (from !== null && !this.#isFree(from)) return null;
      const owner = `${this.#options.instance()}.${randomUUID()}`;
      const row = { name, owner, renewedAt: this.#options.now() };
      const since = this.#monotonic();
      if (!(await this.#calls.takeLease(row, from, bounds))) return null;
      this.#seen.delete(name);
      const lease = new Lease({ row, since }, this.#calls, this.#options, () => this.#held.delete(name));
      this.#held.set(name, lease);
      return lease;
    } finally {
      if (this.#held.get(name) === null) this.#held.delete(name);
    }
  }

  /** Notes the row. Whether it is this sidecar's own, left behind, or did not change for long. */
  #isFree(row: LeaseRow): boolean {
    if (row.owner.startsWith(`${this.#options.instance()}.`)) return true;
    const now = this.#monotonic();
    const before = this.#seen.get(row.name);
    if (before?.row.owner === row.owner && before.row.renewedAt === row.renewedAt) {
      return now - before.since >= LEASE_DEAD_MS;
    }
    this.#seen.set(row.name, { row, since: now });
    return false;
  }

  #monotonic(): number {
    return (this.#options.monotonicNow ?? (() => performance.now()))();
  }
}

/** A lease that this process holds, renewed until it is released or lost. */
export class Lease {
  readonly name: string;
  /** Fencing token. */
  readonly owner: string;
  readonly #calls: ClusterCalls;
  readonly #options: LeasesOptions;
  readonly #onOver: () => void;
  readonly #timer: NodeJS.Timeout;
  #renewedAt: number;
  /** Monotonic; before the last time that the database has confirmed it. */
  #confirmedAt: number;
  #isLost = false;
  /** Never rejects. */
  #renewal: Promise<void> = Promise.resolve();

  constructor({ row, since }: Sighting, calls: ClusterCalls, options: LeasesOptions, onOver: () => void) {
    ({ name: this.name, owner: this.owner, renewedAt: this.#renewedAt } = row);
    this.#confirmedAt = since;
    this.#calls = calls;
    this.#options = options;
    this.#onOver = onOver;
    this.#timer = setInterval(() => {
      this.#renewal = this.#renewal.then(() => this.#renew());
    }, RENEW_EVERY_MS);
    this.#timer.unref();
  }

  /** The row for a renewal that the caller makes itself, in the transaction of its change. */
  next(): LeaseRow {
    this.#renewedAt = Math.max(this.#options.now(), this.#renewedAt + 1);
    return { name: this.name, owner: this.owner, renewedAt: this.#renewedAt };
  }

  /** @throws ApiError `conflict_retry` if another sidecar has taken the lease */
  check(bounds: CallBounds): Promise<void> {
    return this.checkBy((row) => this.#calls.renewLease(row, bounds));
  }

  /** The same, on a connection of the caller. An answer that this process, if it was stopped, reads late says nothing about now. */
  async checkBy(renew: (row: LeaseRow) => Promise<boolean>): Promise<void> {
    do {
      const now = this.#monotonic();
      if (this.#isLost || !(await renew(this.next()))) throw this.lost();
      this.#confirmedAt = now;
    } while (this.#monotonic() - this.#confirmedAt >= LATE_MS);
  }

  /** It was taken, or a check has succeeded, within the last second, so that no other sidecar can have taken the lease. */
  get isFresh(): boolean {
    return !this.#isLost && this.#monotonic() - this.#confirmedAt < FRESH_MS;
  }

  #monotonic(): number {
    return (this.#options.monotonicNow ?? (() => performance.now()))();
  }

  lost(): LeaseLostError {
    this.#isLost = true;
    return new LeaseLostError(this.name);
  }

  /** Never rejects: a lease that stays behind is taken over, its own at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    try {
      await this.#calls.dropLease(this, { deadline: performance.now() + RELEASE_TIMEOUT_MS });
    } catch {
      this.#options.log('warn', 'a lease stays behind and is taken over later', { lease: this.name });
    } finally {
      this.#onOver();
    }
  }

  async #renew(): Promise<void> {
    try {
      const bounds = { deadline: performance.now() + RENEWAL_TIMEOUT_MS };
      if (!(await this.#calls.renewLease(this.next(), bounds))) this.#isLost = true;
    } catch {
      // Not known to be lost: the fencing token decides once the database answers.
    }
  }
}

/** Another sidecar has the lease: it has finished the work, or does so now. Nothing may be changed or taken back. */
export class LeaseLostError extends ApiError {
  constructor(name: string) {
    const reason = `this one did not renew it for ${LEASE_DEAD_MS / 1000} s`;
    super('conflict_retry', `another sidecar has taken over the lease of ${name}, as ${reason}; try again`);
  }
}

export function leaseHeld(name: string): ApiError {
  return new ApiError('sync_in_progress', `a schema sync of namespace ${name} is running; try again`);
}
