/** Bodies of the full size that may be under way at the same time; more is an attack, not a game. */
const MAX_FULL_BODIES = 16;
/** The same for the strangers of one network. */
const MAX_FULL_BODIES_OF_STRANGERS = 8;

export interface UnfinishedBody {
  /** As `networkOf` returns it. */
  readonly network: string;
  /** No request of the connection had a right signature so far. */
  readonly isStranger: boolean;
  bytes: number;
  /** Removes the body and answers its request. */
  readonly refuse: () => void;
}

/**
 * The bodies under way, bounded together, and for the strangers of one network. Beyond a bound the largest unfinished body is
 * refused: a body of a stranger before any other.
 */
export class UnfinishedBodies {
  readonly #maxBytes: number;
  readonly #maxBytesOfStrangers: number;
  readonly #bodies = new Set<UnfinishedBody>();
  readonly #bytesOfStrangers = new Map<string, number>();
  #bytes = 0;

  /** @param fullBytes the size of the largest body */
  constructor(fullBytes: number) {
    this.#maxBytes = fullBytes * MAX_FULL_BODIES;
    this.#maxBytesOfStrangers = fullBytes * MAX_FULL_BODIES_OF_STRANGERS;
  }

  has(body: UnfinishedBody): boolean {
    return this.#bodies.has(body);
  }

  add(body: UnfinishedBody): void {
    this.#bodies.add(body);
  }

  /** Refuses bodies, this one included, until the others fit. */
  grow(body: UnfinishedBody, bytes: number): void {
    body.bytes += bytes;
    this.#count(body, bytes);
    const { network } = body;
    while ((this.#bytesOfStrangers.get(network) ?? 0) > this.#maxBytesOfStrangers) {
      this.#largest((other) => other.isStranger && other.network === network)?.refuse();
    }
    while (this.#bytes > this.#maxBytes) {
      (this.#largest((other) => other.isStranger) ?? this.#largest(() => true))?.refuse();
    }
  }

  /** False if it was removed before. */
  remove(body: UnfinishedBody): boolean {
    if (!this.#bodies.delete(body)) return false;
    this.#count(body, -body.bytes);
    return true;
  }

  #count({ isStranger, network }: UnfinishedBody, bytes: number): void {
    this.#bytes += bytes;
    if (!isStranger) return;
    const sum = (this.#bytesOfStrangers.get(network) ?? 0) + bytes;
    if (sum === 0) this.#bytesOfStrangers.delete(network);
    else this.#bytesOfStrangers.set(network, sum);
  }

  /** Undefined if no body with a byte matches. */
  #largest(matches: (body: UnfinishedBody) => boolean): UnfinishedBody | undefined {
    let largest: UnfinishedBody | undefined;
    for (const body of this.#bodies) {
      if (body.bytes > (largest?.bytes ?? 0) && matches(body)) largest = body;
    }
    return largest;
  }
}
