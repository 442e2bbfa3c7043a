import { ApiError } from '#protocol/errors.ts';
import type { AcceptedWrite, FlushResult, WriteBufferHealth, WriteQueue } from '../data/write-queue.ts';
import { IdempotencyConflictError } from '../engine/model/remembered-answer.ts';
import type { IdempotencySlot } from '../engine/rows.ts';
import type { PendingEntry } from './journal/entries.ts';
import type { Journal, JournalStats } from './journal/journal.ts';
import { LetterCount } from './letter-count.ts';
import { NamespaceQueue } from './namespace-queue.ts';
import type { QueueWorld } from './queue-world.ts';
import { Totals } from './totals.ts';

interface WriteBufferOptions extends Omit<QueueWorld, 'random'> {
  /** Entries of the journal that are not known to be settled, in order. */
  readonly pending: readonly PendingEntry[];
  readonly random?: () => number;
}

/** Figures for /metrics. */
export interface WriteBufferFigures {
  readonly pending: number;
  readonly pendingBytes: number;
  readonly oldestAgeSeconds: number;
  readonly deadLetters: number;
  readonly haltedQueues: number;
  readonly foreignQueues: number;
  /** Since the start, like all fields that follow. */
  readonly applied: number;
  readonly deadLettered: number;
  readonly batches: number;
  readonly lastBatchEntries: number;
  readonly lastBatchMs: number;
  readonly journal: JournalStats;
}

/** The queue of one namespace, for the panel. */
export interface QueueOverview {
  readonly namespace: string;
  readonly pending: number;
  /** Epoch milliseconds; null if the queue is empty. */
  readonly oldestTime: number | null;
  readonly isHalted: boolean;
  /** Its writes are meant for another database. */
  readonly isForeign: boolean;
  readonly isListed: boolean;
}

const NOT_ENABLED: FlushResult = { flushed: 0, deadLettered: 0, remaining: 0, halted: false, enabled: false };

/** Write-behind (contract section 7): accepts writes through the journal and applies them in the background. */
export class WriteBuffer implements WriteQueue {
  readonly #world: QueueWorld;
  readonly #totals: Totals;
  readonly #letters: LetterCount;
  readonly #queues = new Map<string, NamespaceQueue>();

  private constructor(world: QueueWorld) {
    this.#world = world;
    this.#totals = new Totals(world);
    this.#letters = new LetterCount(world, () => this.#wakeAll());
  }

  /**
   * Claims the queues and starts to apply the journal's entries. If the database is away, it uses the state that the
   * journal keeps and claims the queues later.
   */
  static async open({ pending, random = Math.random, ...world }: WriteBufferOptions): Promise<WriteBuffer> {
    const buffer = new WriteBuffer({ ...world, random });
    await buffer.#start(pending);
    return buffer;
  }

  isBuffered(namespace: string): boolean {
    return this.#world.config.namespaces.has(namespace);
  }

  mustDrain(namespace: string): boolean {
    return this.#queues.has(namespace);
  }

  hasConsistentReads(namespace: string): boolean {
    const listed = this.#world.config.namespaces.get(namespace);
    return listed === undefined ? this.#queues.has(namespace) : listed.consistentReads;
  }

  ownedSince(namespace: string): number {
    return this.#queues.get(namespace)?.ownedSince ?? this.#world.clock.now();
  }

  accept(write: AcceptedWrite): Promise<string> {
    const queue = this.#queues.get(write.namespace);
    if (queue === undefined) throw new Error(`namespace ${write.namespace} is not buffered`);
    return queue.accept(write);
  }

  recall(slot: IdempotencySlot): string | null {
    const recalled = this.#world.journal.recall(slot);
    if (recalled === null) return null;
    if (recalled.isSame) return recalled.answer;
    throw new IdempotencyConflictError();
  }

  note(slot: IdempotencySlot, result: string): void {
    this.#world.journal.note(slot, result);
  }

  async drain(namespace: string, deadline: number): Promise<void> {
    await this.#queues.get(namespace)?.drain(deadline);
  }

  async flush(namespace: string, deadline: number): Promise<FlushResult> {
    const queue = this.#queues.get(namespace);
    if (queue === undefined) return NOT_ENABLED;
    const { applied, deadLettered } = queue;
    try {
      await queue.drain(deadline);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    // The answer and the next `health` agree.
    if (queue.deadLettered > deadLettered) await this.#letters.refresh();
    return {
      flushed: queue.applied - applied,
      deadLettered: queue.deadLettered - deadLettered,
      remaining: queue.size,
      halted: queue.isHalted || queue.isForeign,
      enabled: this.isBuffered(namespace),
    };
  }

  /** Applies what waits now, as far as it can. Returns the number of writes in queues that could not be emptied. */
  async settle(deadline: number): Promise<number> {
    const left = [...this.#queues.values()].map(async (queue) => {
      try {
        await queue.drain(deadline);
        return 0;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return queue.size;
      }
    });
    return (await Promise.all(left)).reduce((sum, writes) => sum + writes, 0);
  }

  health(): WriteBufferHealth {
    return {
      enabled: this.#world.config.namespaces.size > 0,
      available: this.#world.journal.stats().isAvailable,
      pending: this.#totals.writes,
      oldestAgeSeconds: this.#oldestAgeSeconds(),
      halted: this.#count((queue) => queue.isHalted || queue.isForeign) > 0,
      deadLetters: this.#letters.count,
    };
  }

  figures(): WriteBufferFigures {
    return {
      ...this.#totals.figures,
      oldestAgeSeconds: this.#oldestAgeSeconds(),
      deadLetters: this.#letters.count,
      haltedQueues: this.#count((queue) => queue.isHalted),
      foreignQueues: this.#count((queue) => queue.isForeign),
      journal: this.#world.journal.stats(),
    };
  }

  /** Sorted by name. */
  overview(): QueueOverview[] {
    const queues = [...this.#queues.values()].toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
    return queues.map(({ namespace, size, oldestTime, isHalted, isForeign }) => ({
      ...{ namespace, pending: size, oldestTime, isHalted, isForeign },
      isListed: this.isBuffered(namespace),
    }));
  }

  /**
   * Takes queues out of service for a restore that `work` does: their writes are applied first. The caller keeps new ones
   * away. `work` returns the entries that it has put into the journal; the queues go on with them, under its token.
   * @throws ApiError `write_buffer_halted` if a queue cannot be emptied
   */
  async suspend(
    namespaces: readonly string[],
    deadline: number,
    work: (journal: Journal) => Promise<ReadonlyMap<string, readonly PendingEntry[]>>,
  ): Promise<void> {
    const held = namespaces.filter((namespace) => this.#queues.has(namespace));
    for (const namespace of held) await this.drain(namespace, deadline);
    for (const namespace of held) {
      this.#queues.get(namespace)?.stop();
      this.#queues.delete(namespace);
    }
    let brought: ReadonlyMap<string, readonly PendingEntry[]> = new Map();
    try {
      brought = await work(this.#world.journal);
    } finally {
      const served = new Set([...held, ...brought.keys()]);
      for (const namespace of served) this.#add(namespace, brought.get(namespace) ?? []);
      await Promise.all([...served].map((namespace) => this.#queues.get(namespace)?.start()));
    }
  }

  /** Applies queued writes for at most `drainOnStopMs`; the rest stays in the journal for the next start. */
  async stop(): Promise<void> {
    const { clock, config, log } = this.#world;
    const deadline = clock.monotonicNow() + config.drainOnStopMs;
    const queues = [...this.#queues.values()];
    if (config.drainOnStopMs > 0) await Promise.allSettled(queues.map((queue) => queue.drain(deadline)));
    for (const queue of queues) queue.stop();
    this.#letters.stop();
    for (const { namespace, size } of queues.filter((queue) => queue.size > 0)) {
      log('warn', 'queued writes stay in the journal; the next start applies them', { namespace, writes: size });
    }
  }

  async #start(pending: readonly PendingEntry[]): Promise<void> {
    const { catalog, config, journal, log, clock } = this.#world;
    const byNamespace = Map.groupBy(pending, (entry) => entry.namespace);
    const owned = [...journal.namespaces().values()].filter((state) => state.isOwner);
    for (const { stored } of owned) if (stored !== null) catalog.seed(stored);
    const names = [...config.namespaces.keys(), ...byNamespace.keys(), ...owned.map((state) => state.namespace)];
    for (const name of new Set(names)) this.#add(name, byNamespace.get(name) ?? []);
    catalog.onRead((stored) => void this.#queues.get(stored.namespace)?.keep(stored));
    for (const [namespace, entries] of byNamespace) {
      log('info', 'the journal holds queued writes: they are applied first, as soon as the database takes them', {
        namespace,
        writes: entries.length,
      });
    }
    void this.#letters.refresh();
    const deadline = clock.monotonicNow() + config.drainOnStopMs;
    await Promise.all([...this.#queues.values()].map((queue) => queue.start()));
    const left = [...this.#queues.values()].filter((queue) => !this.isBuffered(queue.namespace));
    await Promise.allSettled(left.map((queue) => queue.drain(deadline)));
  }

  #add(namespace: string, pending: readonly PendingEntry[]): void {
    const options = {
      ...{ world: this.#world, totals: this.#totals, letters: this.#letters },
      isListed: this.isBuffered(namespace),
      onBatchFull: () => this.#wakeAll(),
      onGivenUp: () => this.#queues.delete(namespace),
    };
    this.#queues.set(namespace, new NamespaceQueue(namespace, options, pending));
  }

  #wakeAll(): void {
    for (const queue of this.#queues.values()) queue.wake();
  }

  /** Wall-clock time, which may have been set back. */
  #oldestAgeSeconds(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { oldestTime } of this.#queues.values()) oldest = Math.min(oldest, oldestTime ?? oldest);
    const ageMs = this.#world.clock.now() - oldest;
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(0, Math.floor(ageMs / 1000));
  }

  #count(holds: (queue: NamespaceQueue) => boolean): number {
    let count = 0;
    for (const queue of this.#queues.values()) if (holds(queue)) count += 1;
    return count;
  }
}
