import { PanelError } from '../panel-error.ts';

export interface UploadPlacesOptions {
  readonly most: number;
  readonly mostOfAnAccount: number;
}

interface Sender {
  readonly accountId: number;
  readonly username: string;
}

/** Bodies that arrive at the same time. A slow sender holds a place for up to an hour: two accounts alone never hold all of them. */
export class UploadPlaces {
  readonly #options: UploadPlacesOptions;
  readonly #senders = new Set<Sender>();

  constructor(options: UploadPlacesOptions) {
    this.#options = options;
  }

  /** Returns the function that frees the place. @throws PanelError `upload.busy` */
  take({ accountId, username }: Sender): () => void {
    const { most, mostOfAnAccount } = this.#options;
    const own = [...this.#senders].filter((other) => other.accountId === accountId).length;
    const free = most - this.#senders.size;
    if (own >= mostOfAnAccount) throw new PanelError('upload.busy', { detail: `yours: ${own}` });
    // The last free place is for an account that holds none.
    if (free < (own === 0 ? 1 : 2)) throw new PanelError('upload.busy', { detail: `of ${this.#names()}` });
    const sender = { accountId, username };
    this.#senders.add(sender);
    return () => void this.#senders.delete(sender);
  }

  #names(): string {
    return [...new Set([...this.#senders].map(({ username }) => username))].sort().join(', ');
  }
}
