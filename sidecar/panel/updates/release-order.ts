import type { KeeperLink } from '#sidecar/keeper/channel/keeper-link.ts';
import type { UpdateEnd, UpdateOrder } from '#sidecar/keeper/channel/messages.ts';

/** Orders a change of the release from the keeper, and waits for its end. Most ends come to another sidecar than ordered. */
export class ReleaseOrder {
  readonly #link: KeeperLink;
  readonly #committed = Promise.withResolvers<UpdateEnd>();
  #refuse: ((reason: string) => void) | null = null;
  #isOrdered = false;
  #isOnTrial: boolean;
  #previous: string | null | undefined;

  constructor(link: KeeperLink) {
    this.#link = link;
    this.#isOnTrial = link.hello.trial !== null;
    this.#previous = link.hello.previous;
    link.on('committed', ({ end }) => {
      this.#isOnTrial = false;
      this.#previous = end.from;
      this.#committed.resolve(end);
    });
    link.on('notApplied', ({ reason }) => this.#refuse?.(reason));
  }

  /** From the order until this sidecar ends, or on trial until the commit. */
  get isOpen(): boolean {
    return this.#isOrdered || this.#isOnTrial;
  }

  /** Release before the running one; null: the program's own folder; undefined: there is none. */
  get previous(): string | null | undefined {
    return this.#previous;
  }

  /** Rejects if the keeper cannot write it down. Else this sidecar is about to end, and nothing comes after it. */
  async send(update: UpdateOrder, signal: AbortSignal): Promise<never> {
    this.#isOrdered = true;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#refuse = (reason) => {
      this.#isOrdered = false;
      reject(new Error(`the keeper could not write it down: ${reason}`));
    };
    signal.addEventListener('abort', () => reject(signal.reason));
    this.#link.send({ type: 'apply', update });
    return promise;
  }

  /** End of this change; null if the keeper knows nothing of it. Waits while it is on trial. */
  async endOf(id: string, signal: AbortSignal): Promise<UpdateEnd | null> {
    const { trial, last } = this.#link.hello;
    if (trial !== id) return last?.id === id ? last : null;
    const stopped = new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
    return Promise.race([this.#committed.promise, stopped]);
  }
}
