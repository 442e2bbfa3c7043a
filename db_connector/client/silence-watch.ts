import type { AddressChoice } from './address-choice.ts';
import type { ApiAddress } from './api-address.ts';
import type { ApiCall } from './api-call.ts';
import type { Cancel, Timers } from './timers.ts';

const LOOK_MS = 250;
/** Looks at which calls were under way and none was answered, before the address is asked for its health. */
const ASK_LOOKS = 2;
/** Such looks before the address is left: the question had a second for its answer. */
const LEAVE_LOOKS = 6;
/** Looks that find nothing under way before they end: calls come in each tick, and setting a timer costs more. */
const IDLE_LOOKS = 8;

export interface SilenceWatchOptions {
  readonly timers: Timers;
  readonly choice: AddressChoice;
  /** Calls no longer go to this address: a call under way there that may be repeated goes to the next one. */
  readonly onLeft: (address: ApiAddress, call: ApiCall) => void;
}

/**
 * Notices that the address of the calls hangs: it takes calls and answers none, nor the question for its health. One timer for
 * all calls, and only while there are some.
 *
 * Counts looks and no time: after a stall of the game's thread, answers that wait unread are no silence of the other side.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #underWay = new Set<ApiCall>();
  #address: ApiAddress | null = null;
  /** An attempt there has ended since the last look. */
  #hasHeard = false;
  #silentLooks = 0;
  #idleLooks = 0;
  #stop: Cancel | null = null;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
  }

  /** An attempt of the call begins. */
  begin(call: ApiCall): void {
    this.#underWay.add(call);
    this.#stop ??= this.#options.timers.every(LOOK_MS, () => this.#look());
  }

  end(call: ApiCall): void {
    this.#underWay.delete(call);
    if (call.address === this.#address) this.#hasHeard = true;
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  #look(): void {
    const address = this.#options.choice.current;
    const isSilent = address === this.#address && !this.#hasHeard && this.#hasCallAt(address);
    this.#address = address;
    this.#hasHeard = false;
    this.#silentLooks = isSilent ? this.#silentLooks + 1 : 0;
    if (this.#silentLooks === ASK_LOOKS) void this.#ask(address);
    if (this.#silentLooks === LEAVE_LOOKS) this.#leave(address, 'it takes calls and answers none');
    this.#idleLooks = this.#underWay.size === 0 ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks >= IDLE_LOOKS) this.stop();
  }

  #hasCallAt(address: ApiAddress): boolean {
    for (const call of this.#underWay) {
      if (call.address === address) return true;
    }
    return false;
  }

  async #ask(address: ApiAddress): Promise<void> {
    await this.#options.choice.doubt(address);
    if (address !== this.#address || this.#silentLooks < ASK_LOOKS) return;
    this.#silentLooks = 0;
    this.#moveCalls(address);
  }

  #leave(address: ApiAddress, trouble: string): void {
    this.#options.choice.leave(address, trouble);
    this.#moveCalls(address);
  }

  /** Nothing if there is no other address to go to. */
  #moveCalls(address: ApiAddress): void {
    if (this.#options.choice.current === address) return;
    for (const call of [...this.#underWay]) {
      if (call.address === address) this.#options.onLeft(address, call);
    }
  }
}
