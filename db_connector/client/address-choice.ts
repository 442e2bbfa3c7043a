import type { Say } from '../config/say.ts';
import type { ApiAddress } from './api-address.ts';
import type { Cancel, Timers } from './timers.ts';

/** Between two questions for the health of an address that calls should go to and do not. */
const LOOK_MS = 2000;
/** An address that has told nothing of its health yet is not asked again after so many vain answers. */
const MAX_VAIN_ANSWERS = 5;
/** Good health for so long brings the calls back to a nearer address. */
const RETURN_MS = 30_000;

export interface AddressChoiceOptions {
  readonly timers: Timers;
  readonly log: Say;
}

/**
 * The address that calls go to: the nearest, until it fails; then the next at once, and back after 30 s of good health. A single
 * address is never asked.
 */
export class AddressChoice {
  readonly #addresses: readonly ApiAddress[];
  readonly #options: AddressChoiceOptions;
  readonly #asked = new Map<ApiAddress, Promise<void>>();
  #current: ApiAddress;
  #stopLooks: Cancel | null = null;
  #isStopped = false;

  /** @param addresses at least one, the nearest first */
  constructor(addresses: readonly ApiAddress[], options: AddressChoiceOptions) {
    this.#addresses = addresses;
    this.#options = options;
    // Calls to hosts that are not allowed end in `ApiClient`.
    this.#current = addresses.find(({ isAllowed }) => isAllowed) ?? (addresses[0] as ApiAddress);
    if (this.#current !== addresses[0]) this.#choose(this.#current);
  }

  get current(): ApiAddress {
    return this.#current;
  }

  /** Whether calls may go to at least one address without a trial. */
  get hasClosedCircuit(): boolean {
    return this.#addresses.some(({ isAllowed, breaker }) => isAllowed && breaker.state === 'closed');
  }

  /** Lets a call in: by the circuit breaker of the address of now, else by that of another, which calls then go to. */
  admit(): boolean {
    if (this.#current.breaker.admit()) return true;
    const other = this.#others().find(({ breaker }) => breaker.admit());
    if (other === undefined) return false;
    this.#move(other, this.#current.breaker.refusal);
    return true;
  }

  /** Asks each address for its health, so that calls begin at the nearest that is well. */
  async start(): Promise<void> {
    if (this.#addresses.length === 1) return;
    await this.askAll();
    if (this.#addresses.some((address) => this.#isUnknown(address))) this.#watch();
  }

  /** Asks each address of several for its health. */
  async askAll(): Promise<void> {
    await Promise.all(this.#addresses.map((address) => this.doubt(address)));
  }

  /** An attempt there failed, or calls find no answer: if calls go there, they go to the next address from now on. */
  leave(address: ApiAddress, trouble: string): void {
    if (this.#addresses.length === 1 || this.#isStopped) return;
    address.trouble = trouble;
    address.wellSinceMs = null;
    if (address === this.#current) this.#moveOn(trouble);
    this.#watch();
  }

  /** Asks the address for its health, and goes to the next if that is bad. Shares a question that is under way. Never rejects. */
  async doubt(address: ApiAddress): Promise<void> {
    if (this.#addresses.length === 1 || this.#isStopped || !address.isAllowed) return;
    const asked = this.#asked.get(address) ?? this.#ask(address);
    this.#asked.set(address, asked);
    await asked;
  }

  async #ask(address: ApiAddress): Promise<void> {
    try {
      this.#learn(address, await address.askHealth());
    } catch (error) {
      this.#options.log(`internal: ${String(error)}`, 'bad');
    } finally {
      this.#asked.delete(address);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopLooks?.();
    this.#stopLooks = null;
  }

  #learn(address: ApiAddress, trouble: string | null | undefined): void {
    if (trouble === undefined) {
      address.vainAnswers += 1;
      return;
    }
    address.askedAtMs = this.#options.timers.elapsed();
    if (trouble !== null) {
      this.leave(address, trouble);
      return;
    }
    address.trouble = null;
    address.wellSinceMs ??= address.askedAtMs;
    // A signed answer says as much as the trial call that the circuit waits for.
    if (address.breaker.state === 'half-open') address.breaker.close();
    // It was the best of several that failed.
    if (this.#current.trouble !== null) this.#moveOn(this.#current.trouble);
  }

  /** To the nearest other address that is well, else to the next one whose circuit is closed. */
  #moveOn(trouble: string): void {
    const others = this.#others().filter(({ breaker }) => breaker.state === 'closed');
    const isNear = (address: ApiAddress) => this.#placeOf(address) < this.#placeOf(this.#current);
    const inTurn = [...others.filter((address) => !isNear(address)), ...others.filter(isNear)];
    const next = others.find((address) => address.trouble === null) ?? inTurn[0];
    if (next === undefined) return;
    this.#move(next, trouble);
    // An address that is known to be in trouble is asked by `#look`: asked here, all of them would be asked in a circle.
    if (next.trouble === null) void this.doubt(next);
  }

  #move(to: ApiAddress, trouble: string): void {
    const { url } = this.#current.config.target;
    this.#choose(to);
    // While none is well, calls take turns, and the circuit breakers say the rest.
    if (to.trouble === null) {
      this.#options.log(`${url} is not well (${trouble}): calls go to ${to.config.target.url} now`, 'warning');
    }
  }

  #choose(address: ApiAddress): void {
    for (const other of this.#addresses) {
      if (other !== address) other.link.setChosen(false);
    }
    address.link.setChosen(true);
    this.#current = address;
  }

  /** Looks only while an address is not well, is passed over, or has told nothing yet. */
  #watch(): void {
    if (!this.#isStopped) this.#stopLooks ??= this.#options.timers.every(LOOK_MS, () => this.#look());
  }

  #look(): void {
    this.#goBack();
    const watched = this.#addresses.filter((address) => address.isAllowed && this.#isWatched(address));
    for (const address of watched) void this.doubt(address);
    if (watched.length > 0) return;
    this.#stopLooks?.();
    this.#stopLooks = null;
  }

  #isWatched(address: ApiAddress): boolean {
    const isPassedOver = this.#placeOf(address) < this.#placeOf(this.#current);
    const isInTrouble = address.trouble !== null || address.breaker.state !== 'closed';
    return isPassedOver || isInTrouble || this.#isUnknown(address);
  }

  #isUnknown({ isAllowed, askedAtMs, vainAnswers }: ApiAddress): boolean {
    return isAllowed && askedAtMs === null && vainAnswers < MAX_VAIN_ANSWERS;
  }

  #goBack(): void {
    const nearer = this.#addresses.slice(0, this.#placeOf(this.#current));
    const now = this.#options.timers.elapsed();
    const best = nearer.find(
      ({ isAllowed, trouble, wellSinceMs, breaker }) =>
        isAllowed && trouble === null && now - (wellSinceMs ?? now) >= RETURN_MS && breaker.state === 'closed',
    );
    if (best === undefined) return;
    this.#choose(best);
    this.#options.log(
      `${best.config.target.url} has been well for ${RETURN_MS / 1000} s: calls go there again`,
      'good',
    );
  }

  #others(): ApiAddress[] {
    return this.#addresses.filter((address) => address !== this.#current && address.isAllowed);
  }

  #placeOf(address: ApiAddress): number {
    return this.#addresses.indexOf(address);
  }
}
