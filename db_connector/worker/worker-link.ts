import type { ApiLink, WorkerState } from '../client/api-link.ts';
import type { Attempt } from '../client/attempt.ts';
import type { Transport } from '../client/transport.ts';
import type { LinkThread } from './link-thread.ts';

/** Way to one address, by the thread that all addresses share. */
export class WorkerLink implements ApiLink {
  readonly #thread: LinkThread;
  readonly #address: number;

  /** @param address place in the list of addresses */
  constructor(thread: LinkThread, address: number) {
    this.#thread = thread;
    this.#address = address;
  }

  get transport(): Transport['name'] {
    return this.#thread.transportTo(this.#address);
  }

  get worker(): WorkerState {
    return this.#thread.state;
  }

  get ready(): Promise<void> {
    return this.#thread.ready;
  }

  setChosen(isChosen: boolean): void {
    if (isChosen) this.#thread.choose(this.#address);
  }

  attempt(attempt: Attempt): void {
    this.#thread.attempt(this.#address, attempt);
  }

  collect(): void {
    this.#thread.collect();
  }

  abandon(attempt: Attempt): void {
    this.#thread.abandon(attempt);
  }

  probe(): Promise<number> {
    return this.#thread.probe(this.#address);
  }

  /** The ways to the other addresses too. */
  destroy(): Promise<void> {
    return this.#thread.destroy();
  }
}
