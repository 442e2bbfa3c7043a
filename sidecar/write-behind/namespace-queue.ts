import { ApiError } from '#protocol/errors.ts';
import type { AcceptedWrite } from '../data/write-queue.ts';
import { type DeadLetter, QueueLostError } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { BatchApplier } from './batch-applier.ts';
import { Drains } from './drains.ts';
import { Halting } from './halting.ts';
import { Pause } from './journal/clock.ts';
import type { PendingEntry } from './journal/entries.ts';
import { LetterRetry } from './letter-retry.ts';
import { PendingEntries } from './pending-entries.ts';
import { QueueEntrance } from './queue-entrance.ts';
import { QueueOwnership } from './queue-ownership.ts';
import type { QueueWorld } from './queue-world.ts';

/** How often a queue that belongs to another sidecar is asked for again. */
const LOST_CHECK_MS = 2000;

const LOST = "its queue is not this sidecar's";

interface QueueOptions {
  readonly world: QueueWorld;
  /** Else what the journal still holds is applied, and then the queue given up. */
  readonly isListed: boolean;
  /** Of this namespace, in order. */
  readonly pending: readonly PendingEntry[];
  /** Nothing is left, and the queue is nobody's. */
  readonly onGivenUp: (namespace: string) => void;
}

/** The queue of one namespace: accepted in order, applied in order, one batch at a time. */
export class NamespaceQueue {
  readonly namespace: string;
  readonly #world: QueueWorld;
  readonly #options: QueueOptions;
  readonly #entries: PendingEntries;
  readonly #ownership: QueueOwnership;
  readonly #entrance: QueueEntrance;
  readonly #applier: BatchApplier;
  readonly #drains: Drains;
  readonly #halting: Halting;
  readonly #retry: LetterRetry;
  readonly #pause: Pause;

  /** Entries up to here are applied without waiting for others. */
  #flushTo = 0;
  /** Monotonic; when those behind `#flushTo` have waited long enough. */
  #dueAt = Number.POSITIVE_INFINITY;
  #restUntil = 0;
  /** Somebody waits for whom no attempt was made yet: rest or not, one is made now. */
  #isAwaited = false;
  #attempts = 0;
  /** The database has refused the token since a batch was applied last. */
  #hasLost = false;
  #isStopped = false;
  readonly #tried = Promise.withResolvers<void>();
  applied = 0;
  deadLettered = 0;

  constructor(namespace: string, options: QueueOptions) {
    const { world, pending } = options;
    this.namespace = namespace;
    this.#world = world;
    this.#options = options;
    this.#entries = new PendingEntries(namespace, world);
    this.#ownership = new QueueOwnership(namespace, world);
    this.#entrance = new QueueEntrance(namespace, world, this.#ownership, (entry) => this.#push(entry));
    this.#applier = new BatchApplier(namespace, world);
    this.#drains = new Drains(namespace, world.clock);
    this.#halting = new Halting(namespace, world);
    this.#retry = new LetterRetry(namespace, world, this.#entries, (entry) => this.#entrance.accept(entry));
    this.#pause = new Pause(world.clock);
    for (const entry of pending) {
      this.#entrance.restored(entry);
      this.#entries.restore(entry);
      this.#flushTo = entry.position;
    }
  }

  get isHalted(): boolean {
    return this.#halting.isHalted;
  }

  get isLost(): boolean {
    return this.#ownership.kind === 'lost';
  }

  get ownedSince(): number {
    return this.#ownership.since;
  }

  /** Accepted and not settled. */
  get size(): number {
    return this.#entrance.size;
  }

  /** Epoch milliseconds; null where nothing waits. */
  get oldestTime(): number | null {
    return this.#entries.first?.time ?? null;
  }

  /** Resolves after the first attempt to claim the queue, whatever came of it. */
  start(): Promise<void> {
    void this.#run();
    return this.#tried.promise;
  }

  /** Nothing begins after this; what is under way is not waited for, as the database tells later what came of it. */
  stop(): void {
    this.#isStopped = true;
    this.#entrance.close();
    this.#drains.refuseAll('the sidecar stops');
    this.#tried.resolve();
    this.#pause.wake();
  }

  wake(): void {
    this.#pause.wake();
  }

  keep(stored: StoredSchema): Promise<void> {
    return this.#ownership.keep(stored);
  }

  /** Resolves with the acknowledgement. */
  accept({ kid, op, payload, slot, work }: AcceptedWrite): Promise<string> {
    const time = this.#world.clock.now();
    return this.#entrance.accept({ kid, op, payload, time, key: slot, retryOf: null }, work);
  }

  /** @throws ApiError `write_buffer_halted` */
  async drain(deadline: number): Promise<void> {
    if (this.isLost) throw new ApiError('write_buffer_halted', `namespace ${this.namespace}: ${LOST}`);
    if (this.#isStopped) throw new ApiError('write_buffer_halted', `namespace ${this.namespace}: the sidecar stops`);
    if (this.#ownership.kind === 'owner' && this.#entries.isEmpty) return;
    const last = this.#entries.lastPosition;
    this.#flushTo = Math.max(this.#flushTo, last);
    this.#isAwaited = true;
    const drained = this.#drains.wait(last, this.#attempts, deadline);
    this.#pause.wake();
    await drained;
  }

  #push(entry: PendingEntry): void {
    const { capacity, clock, config } = this.#world;
    this.#entries.push(entry);
    const isFirst = this.#dueAt === Number.POSITIVE_INFINITY;
    if (isFirst) this.#dueAt = clock.monotonicNow() + config.flushIntervalMs;
    if (capacity.writes >= config.flushAtPending) this.#world.wakeAll();
    else if (isFirst || this.#entries.hasOver) this.#pause.wake();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) await this.#pause.wait(waitMs);
      else await this.#attempt();
    }
  }

  /** How long there is nothing to do. */
  #waitMs(): number {
    const now = this.#world.clock.monotonicNow();
    if (this.#isAwaited) return 0;
    if (this.#restUntil > now) return this.#restUntil - now;
    if (this.#ownership.kind !== 'owner' || this.#entries.hasOver || this.#isDue(now)) return 0;
    if (!this.#options.isListed && this.size === 0) return 0;
    return Math.max(0, Math.min(this.#dueAt, this.#retry.nextAt) - now);
  }

  #isDue(now: number): boolean {
    const { capacity, config } = this.#world;
    const first = this.#entries.firstLive;
    if (first === null) {
      this.#dueAt = Number.POSITIVE_INFINITY;
      return false;
    }
    if (capacity.writes >= config.flushAtPending || now >= this.#dueAt) {
      this.#flushTo = this.#entries.lastPosition;
      this.#dueAt = Number.POSITIVE_INFINITY;
    }
    return first.position <= this.#flushTo;
  }

  async #attempt(): Promise<void> {
    this.#attempts += 1;
    const attempt = this.#attempts;
    const isEarly = this.#restUntil > this.#world.clock.monotonicNow();
    this.#isAwaited = false;
    try {
      if (this.#ownership.kind !== 'owner') await this.#claim();
      this.#tried.resolve();
      this.#entrance.settled(await this.#entries.settleOver());
      if (this.isLost) this.#halting.reset();
      else await this.#workAndRest();
      if (!this.#options.isListed && this.size === 0 && !this.#isStopped) await this.#giveUp();
      if (!this.isLost) this.#drains.reached(this.#entries.settledTo);
    } catch (error) {
      this.#failed(attempt, error, isEarly);
    } finally {
      this.#tried.resolve();
    }
  }

  async #workAndRest(): Promise<void> {
    if (await this.#work()) this.#halting.succeeded();
    this.#restUntil = 0;
  }

  async #claim(): Promise<void> {
    await this.#ownership.claim(this.size, (row) => this.#entries.sort(row));
    if (!this.isLost) return;
    this.#restUntil = this.#world.clock.monotonicNow() + LOST_CHECK_MS;
    this.#drains.refuseAll(LOST);
  }

  /** False where nothing is known yet of whether the database takes what waits. */
  async #work(): Promise<boolean> {
    const isDue = this.#isDue(this.#world.clock.monotonicNow());
    const isApplied = isDue ? await this.#applyBatch() : true;
    if (isApplied) await this.#retry.look();
    return isApplied;
  }

  async #applyBatch(): Promise<boolean> {
    const { tally, letters } = this.#world;
    const applied = await this.#applier.apply(this.#ownership.acceptToken(), this.#entries);
    if (applied === null) return false;
    const { entries } = applied;
    const dead = applied.letters.length;
    this.#hasLost = false;
    this.#entries.settle(entries);
    this.#entrance.settled(entries.length);
    const done = entries.length - this.#buried(entries, applied.letters);
    this.applied += done;
    this.deadLettered += dead;
    tally.applied += done;
    tally.deadLettered += dead;
    if (dead > 0) this.#tellLetters(applied.letters);
    if (dead > 0 || entries.some((entry) => entry.retryOf !== null)) void letters.refresh();
    return true;
  }

  /** Entries that are dead letters as a whole; of a batch that is not atomic some operations may be. */
  #buried(entries: readonly PendingEntry[], letters: readonly DeadLetter[]): number {
    if (letters.length === 0) return 0;
    const ids = new Set(letters.map(({ id }) => id));
    return entries.filter(({ retryOf, position }) => ids.has(retryOf ?? this.#world.journal.idOf(position))).length;
  }

  #tellLetters(letters: readonly DeadLetter[]): void {
    const [first] = letters;
    if (first === undefined) return;
    const { namespace } = this;
    this.#world.log('warn', 'queued writes can never be applied, and are dead letters now; see: dead-letters list', {
      ...{ namespace, writes: letters.length, first: first.id, op: first.op, code: first.code },
    });
  }

  #failed(attempt: number, error: unknown, isEarly: boolean): void {
    if (this.#isStopped) return;
    const isLost = error instanceof QueueLostError;
    if (isLost) this.#ownership.doubt();
    // The claim tells whose the queue is. That it is ours and not ours in turns would be a failure like others.
    if (isLost && !this.#hasLost) {
      this.#hasLost = true;
      this.#restUntil = 0;
      return;
    }
    this.#halting.failed(error, this.size);
    // Those who do not wait for the end of a rest do not make it longer either.
    if (!isEarly) this.#restUntil = this.#world.clock.monotonicNow() + this.#halting.nextRestMs();
    this.#isAwaited = this.#drains.hasUntried(attempt);
    if (this.isHalted) this.#drains.halted(attempt, this.#halting.reason);
  }

  /** The journal holds nothing of a namespace that is no longer listed: another sidecar may have the queue. */
  async #giveUp(): Promise<void> {
    await this.#world.journal.checkpoint();
    await this.#ownership.release();
    this.#drains.reached(this.#entries.settledTo);
    this.stop();
    this.#options.onGivenUp(this.namespace);
  }
}
