import type { Disk } from './disk.ts';
import { type JournalState, writeState } from './state-file.ts';

/** One save at a time; those that are wanted meanwhile share the next one, which takes the state as it is then. */
export class StateSaver {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #collect: () => JournalState;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #isClosed = false;

  constructor(disk: Disk, folder: string, collect: () => JournalState) {
    this.#disk = disk;
    this.#folder = folder;
    this.#collect = collect;
  }

  /** What is so at the call is durable when it resolves. */
  save(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#next ??= this.#enqueue();
    return this.#next;
  }

  /** The last one; none follows it. */
  async close(state: JournalState): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await writeState(this.#disk, this.#folder, state);
  }

  #enqueue(): Promise<void> {
    const saved = this.#running.then(() => {
      this.#next = null;
      return writeState(this.#disk, this.#folder, this.#collect());
    });
    this.#running = saved.catch(() => {});
    return saved;
  }
}
