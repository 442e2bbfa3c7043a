import { ApiError } from '#protocol/errors.ts';
import { isCompiled, withWork } from '../engine/model/queue-units.ts';
import { type DeadLetter, type QueuedEntry, QueueMovedError } from '../engine/queues.ts';
import { type CallBounds, StaleSchemaError } from '../engine/rows.ts';
import { type CompiledEntries, EntryCompiler } from './compile-entries.ts';
import type { QueueState, SettledBatch, WaitingEntry } from './queue-state.ts';
import type { QueueWorld } from './queue-world.ts';

const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** A batch may take longer than a live statement; an entry that is alone and timed out has all the time that makes sense. */
const MIN_BATCH_TIMEOUT_MS = 10_000;
const ALONE_TIMEOUT_MS = 60_000;
/** A database that hangs is not waited for as long each time. */
const PATIENT_EVERY = 4;
/** Refusals as stale although the schema was read again each time: then the schema has not changed. */
const MAX_STALE = 3;
/** Refusals must last so long before good writes become dead letters. */
const MIN_STALE_MS = 5000;
/** Refusals as stale, with a new schema each time. */
const MAX_STALE_AT_ALL = 12;

interface Prepared {
  readonly entries: readonly WaitingEntry[];
  readonly compiled: CompiledEntries;
}

/** Applies the entries of one namespace, a batch at a time. */
export class BatchApplier {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  readonly #compiler: EntryCompiler;
  readonly #size = new BatchSize();
  #next: Promise<Prepared | null> | null = null;
  /** Timeouts in a row of an entry that was alone. */
  #aloneTimeouts = 0;
  #stale = 0;
  #staleAtAll = 0;
  /** Monotonic; first refusal in a row for an unchanged schema. */
  #staleSince: number | null = null;
  /** Up to this position entries go one by one, to find the one that the database cannot take. */
  #aloneTo = 0;
  /** Position of the entry that is given up, as its table is missing. */
  #givenUp = 0;

  constructor(namespace: string, world: QueueWorld) {
    this.#namespace = namespace;
    this.#world = world;
    this.#compiler = new EntryCompiler(namespace, world);
  }

  /**
   * Applies the first live entries, in order; null if the schema has changed and the next attempt compiles them again, or
   * other entries go before them.
   * @throws ApiError that may pass, QueueLostError
   */
  async apply(token: number, state: QueueState): Promise<SettledBatch | null> {
    const { clock } = this.#world;
    const startedMs = clock.monotonicNow();
    const { entries, compiled } = (await this.#takeNext(state)) ?? (await this.#prepare(this.#firstOf(state.live())));
    if (entries.length === 0) return null;
    const bounds = { deadline: clock.monotonicNow() + this.#timeoutMs(entries.length) };
    const applying = this.#applied(token, compiled, state, bounds);
    const preparing = this.#prepareNext(state, entries.length);
    const letters = await applying;
    if (letters === null) return null;
    this.#next = preparing;
    const tookMs = clock.monotonicNow() - startedMs;
    this.#succeeded(entries, tookMs);
    return { entries, letters, tookMs };
  }

  async #prepare(entries: readonly WaitingEntry[]): Promise<Prepared> {
    const { clock, statementTimeoutMs } = this.#world;
    const bounds = { deadline: clock.monotonicNow() + statementTimeoutMs };
    return { entries, compiled: await this.#compiler.compile(entries, bounds) };
  }

  /** Reads and compiles the next batch while the database applies one, if a whole batch waits. */
  async #prepareNext(state: QueueState, underWay: number): Promise<Prepared | null> {
    const entries = this.#firstOf(state.live(underWay));
    if (entries.length < this.#size.entries) return null;
    try {
      const next = await this.#prepare(entries);
      // A refusal is judged again when the batch has its turn.
      return next.compiled.entries.every(({ work }) => isCompiled(work)) ? next : null;
    } catch {
      return null;
    }
  }

  /** The batch that was prepared; null if other entries are next: the owner has changed, or entries go one by one. */
  async #takeNext(state: QueueState): Promise<Prepared | null> {
    const next = (await this.#next) ?? null;
    this.#next = null;
    if (next === null || (next.entries[0]?.position ?? 0) <= this.#aloneTo) return null;
    const live = state.live();
    return next.entries.every((entry) => live.next().value === entry) ? next : null;
  }

  async #applied(
    token: number,
    compiled: CompiledEntries,
    state: QueueState,
    bounds: CallBounds,
  ): Promise<readonly DeadLetter[] | null> {
    const { engine, journal } = this.#world;
    const { knownTo } = state;
    const entries = compiled.entries.map((entry) => this.#unlessGivenUp(unlessStale(entry, state.staleTo)));
    state.tried(entries.at(-1)?.position ?? 0);
    try {
      const batch = { namespace: this.#namespace, journal: journal.id, token, entries, knownTo };
      return await engine.queues.applyQueue(batch, bounds);
    } catch (error) {
      if (error instanceof QueueMovedError) state.untried(knownTo);
      if (error instanceof StaleSchemaError) {
        await this.#readAgain(compiled);
        return null;
      }
      if (error instanceof ApiError && error.code === 'database_timeout')
        this.#timedOut(isAlone(entries) ? 1 : entries.length);
      throw error;
    }
  }

  #firstOf(pending: Iterable<WaitingEntry>): WaitingEntry[] {
    const first: WaitingEntry[] = [];
    let bytes = 0;
    for (const entry of pending) {
      const most = entry.position <= this.#aloneTo ? 1 : this.#size.entries;
      bytes += entry.bytes;
      if (first.length >= most || (first.length > 0 && bytes > MAX_BATCH_BYTES)) break;
      first.push(entry);
    }
    return first;
  }

  #timeoutMs(entries: number): number {
    const isPatient = entries === 1 && this.#aloneTimeouts % PATIENT_EVERY === 1;
    return Math.max(isPatient ? ALONE_TIMEOUT_MS : MIN_BATCH_TIMEOUT_MS, this.#world.statementTimeoutMs);
  }

  #timedOut(entries: number): void {
    this.#size.timedOut();
    if (entries === 1) this.#aloneTimeouts += 1;
  }

  #succeeded(entries: readonly WaitingEntry[], tookMs: number): void {
    this.#aloneTimeouts = 0;
    this.#size.succeeded(entries.length, tookMs);
    this.#stale = 0;
    this.#staleAtAll = 0;
    if (entries.at(-1)?.position !== this.#givenUp) this.#staleSince = null;
  }

  async #readAgain({ entries, revision }: CompiledEntries): Promise<void> {
    const { catalog, clock, statementTimeoutMs } = this.#world;
    catalog.forget(this.#namespace);
    const stored = await this.#compiler.stored({
      deadline: clock.monotonicNow() + statementTimeoutMs,
    });
    if (stored?.isUnfinished === true) {
      throw new ApiError('sync_in_progress', `the schema of namespace ${this.#namespace} is being changed`);
    }
    this.#staleAtAll += 1;
    this.#stale = stored !== null && stored.revision === revision ? this.#stale + 1 : 0;
    this.#staleSince = this.#stale > 0 ? (this.#staleSince ?? clock.monotonicNow()) : null;
    if (this.#stale >= MAX_STALE) this.#narrow(entries);
    else if (this.#staleAtAll >= MAX_STALE_AT_ALL) {
      this.#staleAtAll = 0;
      throw new ApiError('conflict_retry', `others change the schema of namespace ${this.#namespace} all the time`);
    }
  }

  /** The schema declares the tables and the database does not have them. */
  #narrow(entries: readonly QueuedEntry[]): void {
    this.#stale = 0;
    this.#staleAtAll = 0;
    const last = entries.at(-1);
    if (last === undefined) return;
    if (!isAlone(entries)) this.#aloneTo = last.position;
    else if (this.#world.clock.monotonicNow() - (this.#staleSince ?? 0) >= MIN_STALE_MS) this.#givenUp = last.position;
    else throw new ApiError('conflict_retry', `the database says that the schema of ${this.#namespace} is another one`);
  }

  #unlessGivenUp(entry: QueuedEntry): QueuedEntry {
    if (entry.position !== this.#givenUp || !isCompiled(entry.work)) return entry;
    const tables = 'write' in entry.work ? `table ${entry.work.target.table.name}` : 'a table';
    const message = `${tables}, or a column of it, is declared but not in the database: was it dropped by hand?`;
    return withWork(entry, new ApiError('database_error', message));
  }
}

/** A retry was asked for by the owner, who has seen the write. */
function unlessStale(entry: QueuedEntry, staleTo: number): QueuedEntry {
  if (entry.position > staleTo || entry.isRetry || !isCompiled(entry.work)) return entry;
  const message =
    'it was over a minute old when its sidecar was back, and another sidecar has written the namespace since';
  return withWork(entry, new ApiError('write_buffer_unavailable', message));
}

/** Operations of one batch have its position. */
function isAlone(entries: readonly QueuedEntry[]): boolean {
  return entries[0]?.position === entries.at(-1)?.position;
}

const FIRST = 128;
const MIN_OF_SUCCESS = 16;
const MAX = 1000;
/** Long enough that the fixed cost of a transaction is small, short enough that drains do not wait for it. */
const AIM_MS = 100;

/** How many entries a batch should have, learned from how long the last ones took. */
export class BatchSize {
  #entries = FIRST;

  get entries(): number {
    return this.#entries;
  }

  /** A batch of `count` entries was applied within `ms`. */
  succeeded(count: number, ms: number): void {
    if (ms > 2 * AIM_MS) this.#entries = Math.max(Math.min(this.#entries, MIN_OF_SUCCESS), this.#entries >> 1);
    else if (ms < AIM_MS / 2 && count >= this.#entries) this.#entries = Math.min(MAX, this.#entries * 2);
  }

  /** Down to one entry at a time, which then has the longest time limit. */
  timedOut(): void {
    this.#entries = Math.max(1, this.#entries >> 1);
  }
}
