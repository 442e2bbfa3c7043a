import { ApiError } from '#protocol/errors.ts';
import type { AcceptedWrite } from '../data/write-queue.ts';
import { type QueuedBatch, type QueuedWork, QueueLostError } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { BatchApplier } from './batch-applier.ts';
import { claimOf } from './compile-entries.ts';
import { Drains } from './drains.ts';
import { Halting } from './halting.ts';
import { Pause } from './journal/clock.ts';
import { acknowledgement, type PendingEntry } from './journal/entries.ts';
import { JournalPlace } from './journal-place.ts';
import type { LetterCount } from './letter-count.ts';
import { type EnteringWrite, QueueLetters } from './queue-letters.ts';
import { QueueState } from './queue-state.ts';
import type { QueueWorld } from './queue-world.ts';
import type { Totals } from './totals.ts';

/** How often a database that is not the journal's is asked again. */
const FOREIGN_CHECK_MS = 2000;

const FOREIGN = 'its queued writes are meant for another database';

interface QueueOptions {
  readonly world: QueueWorld;
  readonly totals: Totals;
  readonly letters: LetterCount;
  /** If false, the journal's writes are applied and the queue is given up. */
  readonly isListed: boolean;
  /** `flushAtPending` is reached: no queue of the process waits for its time. */
  readonly onBatchFull: () => void;
  /** The queue is empty, and not served any more. */
  readonly onGivenUp: () => void;
}

/** The queue of one namespace: accepted in order, applied in order, one batch at a time. */
export class NamespaceQueue {
  readonly namespace: string;
  readonly #world: QueueWorld;
  readonly #options: QueueOptions;
  readonly #state: QueueState;
  readonly #place: JournalPlace;
  readonly #applier: BatchApplier;
  readonly #drains: Drains;
  readonly #halting: Halting;
  readonly #letters: QueueLetters;
  readonly #pause: Pause;

  #restUntil = 0;
  /** A drain waits for which no attempt was made yet: try now, even during back-off. */
  #isAwaited = false;
  #attempts = 0;
  /** The database has refused the token since a batch was applied last. */
  #hasLost = false;
  #isStopped = false;
  readonly #tried = Promise.withResolvers<void>();

  /** `pending`: entries that the journal holds of the namespace, in order. */
  constructor(namespace: string, options: QueueOptions, pending: readonly PendingEntry[]) {
    const { world } = options;
    this.namespace = namespace;
    this.#world = world;
    this.#options = options;
    this.#state = new QueueState(world, options.totals, pending);
    this.#place = new JournalPlace(namespace, world);
    this.#applier = new BatchApplier(namespace, world);
    this.#drains = new Drains(namespace, world.clock);
    this.#halting = new Halting(namespace, world);
    this.#letters = new QueueLetters(namespace, world, options.letters);
    this.#pause = new Pause(world.clock);
  }

  get isHalted(): boolean {
    return this.#halting.isHalted;
  }

  /** The writes in the journal are meant for another database. */
  get isForeign(): boolean {
    return this.#place.kind === 'foreign';
  }

  get ownedSince(): number {
    return this.#place.since;
  }

  /** Accepted and not settled. */
  get size(): number {
    return this.#state.size;
  }

  get applied(): number {
    return this.#state.applied;
  }

  get deadLettered(): number {
    return this.#state.deadLettered;
  }

  /** Epoch milliseconds; null if nothing waits. */
  get oldestTime(): number | null {
    return this.#state.first?.time ?? null;
  }

  /** Resolves after the first attempt to read the place, whether it succeeded or not. */
  start(): Promise<void> {
    void this.#run();
    return this.#tried.promise;
  }

  /** No new batch starts after this. Does not wait for a running batch: its result is read from the database later. */
  stop(): void {
    this.#isStopped = true;
    this.#drains.refuseAll('the sidecar stops');
    this.#tried.resolve();
    this.#pause.wake();
  }

  wake(): void {
    this.#pause.wake();
  }

  keep(stored: StoredSchema): Promise<void> {
    return this.#place.keep(stored);
  }

  /** Resolves with the acknowledgement. @throws ApiError `write_buffer_full`, `write_buffer_unavailable` */
  accept({ kid, op, payload, slot, work }: AcceptedWrite): Promise<string> {
    return this.#append({ kid, op, payload, time: this.#world.clock.now(), key: slot, retryOf: null }, work);
  }

  /** @throws ApiError `write_buffer_halted` */
  async drain(deadline: number): Promise<void> {
    if (this.isForeign) throw new ApiError('write_buffer_halted', `namespace ${this.namespace}: ${FOREIGN}`);
    if (this.#isStopped) throw new ApiError('write_buffer_halted', `namespace ${this.namespace}: the sidecar stops`);
    if (this.#place.kind === 'known' && this.#state.isEmpty) return;
    const last = this.#state.flushAll();
    this.#isAwaited = true;
    const drained = this.#drains.wait(last, this.#attempts, deadline);
    this.#pause.wake();
    await drained;
  }

  /** Entries come into the state in the order of positions, as the journal's promises resolve in it. */
  async #append(write: EnteringWrite, work?: QueuedWork | QueuedBatch): Promise<string> {
    const { clock, config, journal } = this.#world;
    if (this.#isStopped)
      throw new ApiError('write_buffer_unavailable', 'the sidecar stops; the write was not accepted');
    const token = this.#place.acceptToken();
    const bytes = Buffer.byteLength(write.payload);
    const pending = this.#state.take(bytes);
    let entry: PendingEntry;
    try {
      entry = await journal.append({ ...write, namespace: this.namespace, token, pending });
    } catch (error) {
      this.#state.giveBack(bytes);
      throw error;
    }
    const { position } = entry;
    const { kid, op, payload, time, key } = write;
    const letterId = journal.idOf(position);
    const answer = acknowledgement(letterId, pending);
    const claim = key && claimOf({ kid, namespace: this.namespace, time, key }, answer, this.#world.expiryNow);
    const compiled = work && {
      ...{ position, letterId, isRetry: false, kid, op, payload, time, work },
      ...(claim && { claim }),
    };
    const mustAct = this.#state.push(entry, compiled ?? null, clock.monotonicNow());
    if (this.#options.totals.writes >= config.flushAtPending) this.#options.onBatchFull();
    else if (mustAct) this.#pause.wake();
    return answer;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) await this.#pause.wait(waitMs);
      else await this.#attempt();
    }
  }

  /** Time until the next attempt. */
  #waitMs(): number {
    const now = this.#world.clock.monotonicNow();
    if (this.#isAwaited) return 0;
    if (this.#restUntil > now) return this.#restUntil - now;
    if (this.#place.kind !== 'known' || (!this.#options.isListed && this.size === 0)) return 0;
    return Math.max(0, Math.min(this.#state.waitMs(now), this.#letters.nextAt - now));
  }

  async #attempt(): Promise<void> {
    this.#attempts += 1;
    const attempt = this.#attempts;
    const isEarly = this.#restUntil > this.#world.clock.monotonicNow();
    this.#isAwaited = false;
    try {
      if (this.#place.kind !== 'known') await this.#claim();
      this.#tried.resolve();
      await this.#letters.settleOver(this.#state);
      if (this.isForeign) this.#halting.reset();
      else await this.#work();
      if (!this.#options.isListed && this.size === 0 && !this.#isStopped) await this.#giveUp();
      if (!this.isForeign) this.#drains.reached(this.#state.settledTo);
    } catch (error) {
      this.#failed(attempt, error, isEarly);
    } finally {
      this.#tried.resolve();
    }
  }

  async #claim(): Promise<void> {
    await this.#place.claim(this.size, (row, othersMsAgo) => {
      if (this.#state.sort(row)) this.#letters.tellCopied();
      if (othersMsAgo !== null) this.#state.markStale(this.#world.clock.now(), othersMsAgo);
    });
    if (!this.isForeign) return;
    this.#restUntil = this.#world.clock.monotonicNow() + FOREIGN_CHECK_MS;
    this.#drains.refuseAll(FOREIGN);
  }

  /** Applies a batch if one is due, and looks for letters that are wanted again. */
  async #work(): Promise<void> {
    const state = this.#state;
    const isDue = state.isDue(this.#world.clock.monotonicNow());
    const batch = isDue ? await this.#applier.apply(this.#place.acceptToken(), state) : null;
    if (batch !== null) {
      this.#hasLost = false;
      state.settle(batch);
      this.#letters.report(batch);
    }
    // A due batch that was not applied: whether the database takes what waits is not known yet.
    if (batch !== null || !isDue) {
      await this.#letters.retry(state, (write) => this.#append(write));
      this.#halting.succeeded();
    }
    this.#restUntil = 0;
  }

  #failed(attempt: number, error: unknown, isEarly: boolean): void {
    if (this.#isStopped) return;
    const isLost = error instanceof QueueLostError;
    if (isLost) this.#place.doubt();
    // The claim asks for the place. A database that accepts and refuses the token in turns is a failure like others.
    if (isLost && !this.#hasLost) {
      this.#hasLost = true;
      this.#restUntil = 0;
      return;
    }
    this.#halting.failed(error, this.size);
    // An early attempt must not extend the back-off.
    if (!isEarly) this.#restUntil = this.#world.clock.monotonicNow() + this.#halting.nextRestMs();
    this.#isAwaited = this.#drains.hasUntried(attempt);
    if (this.isHalted) this.#drains.halted(attempt, this.#halting.reason);
  }

  /** The journal holds nothing of a namespace that is no longer listed. */
  async #giveUp(): Promise<void> {
    await this.#world.journal.checkpoint();
    await this.#place.release();
    this.#drains.reached(this.#state.settledTo);
    this.stop();
    this.#options.onGivenUp();
  }
}
