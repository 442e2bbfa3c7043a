import { Turns } from '../turns.ts';
import { RateLimited } from './answer.ts';

/** Characters of payloads of the calls that run. A running call holds its payload several times: parsed, as values, on its way to the disk. */
const MAX_RUNNING_CHARS = 16_000_000;
/** Calls of one key up to this run whatever other keys do. */
const OWN_RUNNING_CHARS = 1_000_000;
/** Characters of payloads of the calls that wait for their turn. */
const MAX_WAITING_CHARS = 128_000_000;
const RETRY_AFTER_MS = 1000;

interface WaitingCall {
  readonly kid: string;
  readonly chars: number;
  readonly begin: () => void;
}

interface KeyUse {
  runningChars: number;
  waitingChars: number;
}

/**
 * Bounds the memory of authenticated calls by the length of their payloads. Beyond the bound calls wait by turns of their keys;
 * beyond the bound of waiting the key that fills it is refused, and no other.
 */
export class Admission {
  readonly #turns = new Turns<WaitingCall>();
  /** By key id, which the configuration bounds. */
  readonly #keys = new Map<string, KeyUse>();
  #runningChars = 0;
  #waitingChars = 0;
  #isServing = false;

  /**
   * Runs `begin` at once, or in its turn; `leave` must follow once the call is over.
   * @throws RateLimited if too much waits already; nothing is counted then
   */
  enter(kid: string, chars: number, begin: () => void): void {
    const key = this.#useOf(kid);
    if (this.#hasRoom || key.runningChars + chars <= OWN_RUNNING_CHARS) {
      this.#begin({ kid, chars, begin });
      return;
    }
    const share = MAX_WAITING_CHARS / this.#keys.size;
    if (this.#waitingChars + chars > MAX_WAITING_CHARS && key.waitingChars + chars > share) {
      throw new RateLimited('too many long calls wait already; this one was not begun', RETRY_AFTER_MS);
    }
    key.waitingChars += chars;
    this.#waitingChars += chars;
    this.#turns.add(kid, { kid, chars, begin });
  }

  leave(kid: string, chars: number): void {
    this.#useOf(kid).runningChars -= chars;
    this.#runningChars -= chars;
    this.#serve();
  }

  get #hasRoom(): boolean {
    return this.#runningChars < MAX_RUNNING_CHARS;
  }

  /** A call that is over at once leaves within `begin`: the loop that runs takes the next one. */
  #serve(): void {
    if (this.#isServing || this.#turns.size === 0) return;
    this.#isServing = true;
    while (this.#hasRoom) {
      const next = this.#turns.take();
      if (next === undefined) break;
      this.#useOf(next.kid).waitingChars -= next.chars;
      this.#waitingChars -= next.chars;
      this.#begin(next);
    }
    this.#isServing = false;
  }

  #begin({ kid, chars, begin }: WaitingCall): void {
    this.#useOf(kid).runningChars += chars;
    this.#runningChars += chars;
    begin();
  }

  #useOf(kid: string): KeyUse {
    let use = this.#keys.get(kid);
    if (use === undefined) {
      use = { runningChars: 0, waitingChars: 0 };
      this.#keys.set(kid, use);
    }
    return use;
  }
}
