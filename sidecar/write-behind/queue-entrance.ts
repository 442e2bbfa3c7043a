import { ApiError } from '#protocol/errors.ts';
import type { QueuedBatch, QueuedWork } from '../engine/queues.ts';
import type { NewEntry, PendingEntry } from './journal/entries.ts';
import type { QueueOwnership } from './queue-ownership.ts';
import type { QueueWorld } from './queue-world.ts';

/** What comes in; the entrance adds whose it is and how many wait. */
export type EnteringWrite = Omit<NewEntry, 'namespace' | 'token' | 'pending'>;

/** Where writes come into the queue of a namespace: counted, written to the journal, acknowledged. */
export class QueueEntrance {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  readonly #ownership: QueueOwnership;
  readonly #onAccepted: (entry: PendingEntry) => void;
  #size = 0;
  #isClosed = false;

  /** `onAccepted` is called in the order of positions, as the journal's promises resolve in it. */
  constructor(
    namespace: string,
    world: QueueWorld,
    ownership: QueueOwnership,
    onAccepted: (entry: PendingEntry) => void,
  ) {
    this.#namespace = namespace;
    this.#world = world;
    this.#ownership = ownership;
    this.#onAccepted = onAccepted;
  }

  /** Accepted and not settled, those on their way to the disk included. */
  get size(): number {
    return this.#size;
  }

  /** What the journal held at the start came in before. */
  restored({ bytes }: PendingEntry): void {
    this.#world.capacity.add(bytes);
    this.#size += 1;
  }

  settled(entries: number): void {
    this.#size -= entries;
  }

  close(): void {
    this.#isClosed = true;
  }

  /**
   * Resolves with the acknowledgement. `work`: what the write means by the schema that is known now.
   * @throws ApiError `write_buffer_full`, `write_buffer_unavailable`
   */
  async accept(write: EnteringWrite, work?: QueuedWork | QueuedBatch): Promise<string> {
    const { capacity, journal } = this.#world;
    if (this.#isClosed) throw new ApiError('write_buffer_unavailable', 'the sidecar stops; the write was not accepted');
    const token = this.#ownership.acceptToken();
    const bytes = Buffer.byteLength(write.payload);
    capacity.take(bytes);
    this.#size += 1;
    const pending = this.#size;
    let accepted: PendingEntry;
    try {
      accepted = await journal.append({ ...write, namespace: this.#namespace, token, pending });
    } catch (error) {
      this.#size -= 1;
      capacity.give(bytes);
      throw error;
    }
    if (work !== undefined) this.#remember(accepted.position, write, work, bytes);
    this.#onAccepted(accepted);
    return journal.answerOf(accepted.position, pending);
  }

  #remember(
    position: number,
    { kid, op, payload, time }: EnteringWrite,
    work: QueuedWork | QueuedBatch,
    bytes: number,
  ): void {
    const { journal, recent } = this.#world;
    const letterId = journal.idOf(position);
    recent.put({ position, letterId, isRetry: false, kid, op, payload, time, work }, bytes);
  }
}
