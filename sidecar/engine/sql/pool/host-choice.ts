import type { WriteObstacle } from '#engine/engine.ts';

/** State of a server, as it reports it itself. */
export interface Standing {
  /**
   * Reason why it takes no writes, or null. A primary whose standby is away is still the primary: left for another host, its
   * epoch would be forgotten, and a replaced server be taken for it.
   */
  readonly obstacle: Exclude<WriteObstacle, 'noStandby'> | null;
  /** Number of the fail-over that made it the primary: a server of an earlier one was replaced. 0 if unknown. */
  readonly epoch: number;
}

/** How long a host must have been good before connections go back to it. */
const TRUST_MS = 30_000;

interface Host {
  /** Milliseconds of the caller's clock since which every look found it good; null if the last one did not. */
  goodSince: number | null;
  epoch: number;
}

/**
 * Choice among the hosts of a URL, whose order is that of preference. A host is good if it takes writes and no later fail-over is
 * known. Connections stay at their host until it fails, and go back to an earlier one that has been good for 30 s.
 */
export class HostChoice {
  readonly #hosts: readonly Host[];
  #current = 0;
  #epoch = 0;

  constructor(count: number) {
    this.#hosts = Array.from({ length: count }, () => ({ goodSince: null, epoch: 0 }));
  }

  get current(): number {
    return this.#current;
  }

  isGood(host: number): boolean {
    return this.#at(host).goodSince !== null;
  }

  /** Whether a later primary is known. A write there would be lost. */
  isReplaced(host: number): boolean {
    const { epoch } = this.#at(host);
    return epoch > 0 && epoch < this.#epoch;
  }

  /** Hosts whose state matters now: all if the current one is not good, or may have been replaced; else the earlier ones. */
  toWatch(canBeReplaced: boolean): number[] {
    const all = this.#hosts.map((_, host) => host).filter((host) => host !== this.#current);
    return canBeReplaced || !this.isGood(this.#current) ? all : all.filter((host) => host < this.#current);
  }

  /** The order in which a new connection tries the hosts. */
  order(): number[] {
    const rank = (host: number): number => {
      if (host === this.#current) return 0;
      return this.isGood(host) ? 1 : 2;
    };
    return this.#hosts.map((_, host) => host).sort((a, b) => rank(a) - rank(b) || a - b);
  }

  /** A host has answered. `now`: monotonic milliseconds. */
  saw(host: number, { obstacle, epoch }: Standing, now: number): void {
    const seen = this.#at(host);
    if (obstacle === null) {
      seen.epoch = epoch;
      if (epoch > this.#epoch) this.#replaceOthers(epoch);
    }
    if (obstacle !== null || this.isReplaced(host)) seen.goodSince = null;
    else seen.goodSince ??= now;
    this.#choose(now);
  }

  /** A host could not be reached, refused work, or left a call without an answer. */
  failed(host: number, now: number): void {
    this.#at(host).goodSince = null;
    this.#choose(now);
  }

  /** No host is good: connections go to this one, which at least answers. */
  makeDo(host: number): void {
    if (!this.isGood(this.#current)) this.#current = host;
  }

  #at(host: number): Host {
    const found = this.#hosts[host];
    if (found === undefined) throw new Error(`there is no host ${host}`);
    return found;
  }

  #replaceOthers(epoch: number): void {
    this.#epoch = epoch;
    for (const [host, seen] of this.#hosts.entries()) if (this.isReplaced(host)) seen.goodSince = null;
  }

  #choose(now: number): void {
    const isSettled = this.isGood(this.#current);
    const better = this.#hosts.findIndex(
      ({ goodSince }, host) =>
        goodSince !== null && (!isSettled || (host < this.#current && now - goodSince >= TRUST_MS)),
    );
    if (better !== -1) this.#current = better;
  }
}
