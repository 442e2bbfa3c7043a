import { PanelError } from '../panel-error.ts';

/** Archives that are made at a time: each compresses up to a gigabyte. */
const MOST_ARCHIVES = 2;

/** Archives under way, one an account: a reader that pauses does not keep others from theirs. */
export class ArchivePlaces {
  readonly #accounts = new Set<number>();

  /** @throws PanelError `rate.limited` */
  async hold(accountId: number, work: () => Promise<void>): Promise<void> {
    if (this.#accounts.has(accountId) || this.#accounts.size >= MOST_ARCHIVES) {
      throw new PanelError('rate.limited', { retryAfterSeconds: 10 });
    }
    this.#accounts.add(accountId);
    try {
      await work();
    } finally {
      this.#accounts.delete(accountId);
    }
  }
}
