import type { DbResult, DbTicket } from './result.ts';

/** Limit of a bundle (contract section 11). */
const MAX_WAITING = 10_000;
/** Between attempts while no call of the bundle comes back: others hold the places then. Each attempt costs the game's thread. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/** A call of the bundle. */
export interface Call {
  readonly connector: string;
  readonly operation: string;
  readonly json: string;
  /** Never throws. */
  readonly deliver: (result: DbResult) => void;
  /** As the script sees it; undefined until the call goes out. */
  ticket: DbTicket | undefined;
  /** When the connector took it. */
  beganAt: number;
  /** When its result is worth asking for. */
  dueAt: number;
  /** Its result is known, and is delivered once. */
  isKnown: boolean;
}

/** Calls for which the connector had no place, in the order in which they came, and when to ask for one again. */
export class WaitingCalls {
  #calls: Call[] = [];
  /** Calls before this place have gone out; they are cut off from time to time. */
  #gone = 0;
  #dueAt = 0;
  #pauseMs = FIRST_PAUSE_MS;
  /** Calls for which there may be places. */
  #places = 1;

  get size(): number {
    return this.#calls.length - this.#gone;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** False if too many wait already. */
  add(call: Call): boolean {
    if (this.size >= MAX_WAITING) return false;
    this.#calls.push(call);
    return true;
  }

  /** Removes the first calls, as many as may find places; at least one. */
  take(max: number): Call[] {
    const count = Math.min(Math.max(this.#places, 1), max);
    const calls = listOf(this.#calls, this.#gone, count);
    this.#gone += calls.length;
    // If all of them find one, there may be more.
    this.#places = count * 2;
    if (this.#gone * 2 >= this.#calls.length) {
      this.#calls = this.#calls.slice(this.#gone);
      this.#gone = 0;
    }
    return calls;
  }

  /** The first calls found no place; `isAny`: others before them did. */
  putBack(calls: readonly Call[], isAny: boolean, now: number): void {
    this.#calls = [...calls, ...this.#calls.slice(this.#gone)];
    this.#gone = 0;
    if (isAny) this.#pauseMs = FIRST_PAUSE_MS;
    this.#dueAt = now + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#places = 0;
  }

  isDue(now: number): boolean {
    return !this.isEmpty && now >= this.#dueAt;
  }

  /** A call has come back, or a bundle has changed: it is worth asking at the next tick. */
  expectPlace(): void {
    this.#dueAt = 0;
    this.#places += 1;
  }

  /** Calls went out. */
  calm(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
  }
}

/** Characters of the payloads of one list: its copy is one piece of the game's tick. */
const MAX_LIST_CHARS = 256_000;

/** The first calls from a place on that make one list: of one connector, and of so many characters; at least one. */
export function listOf(calls: readonly Call[], from: number, max: number): Call[] {
  const list: Call[] = [];
  let chars = 0;
  for (let at = from; at < calls.length && list.length < max; at += 1) {
    const call = calls[at] as Call;
    chars += call.json.length;
    if (list.length > 0 && (chars > MAX_LIST_CHARS || call.connector !== list[0]?.connector)) break;
    list.push(call);
  }
  return list;
}
