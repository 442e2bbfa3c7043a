import PQueue from 'p-queue';
import { CONNECTOR_MAX_WAITING } from '../protocol/limits.ts';

/** While others call too, one caller holds at most this many of the places to wait (contract section 8). */
const MAX_WAITING_OF_ONE = 448;
/** From there on, several that flood at once leave the last places to those with few calls waiting. */
const FEW = 16;
/** Time for which a caller counts as one of several that call. */
const OTHERS_MS = 10_000;

/**
 * Accepted calls: `concurrency` in flight, at most 512 that wait. A call keeps its place between its attempts.
 *
 * A call that finds a free place, and nobody waiting, begins at once and only counts. The others wait in line, and p-queue shares the
 * places that are left among them.
 */
export class CallQueue {
  /** Places of calls that had to wait; whose call gets one is the line's to say. */
  readonly #places = new PQueue({ concurrency: 1 });
  readonly #line = new WaitingLine();
  readonly #elapsed: () => number;
  #concurrency = 1;
  #isPaused = false;
  /** Calls in flight that began at once. */
  #direct = 0;
  #longInFlight = 0;
  /** Places that found only long calls while enough long calls were in flight. */
  #owed = 0;
  /** The latest caller and its time, and the time of the latest call of another one. Refused calls count. */
  #lastCaller: string | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  #otherAt = Number.NEGATIVE_INFINITY;

  /** @param elapsed milliseconds that only grow */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  setConcurrency(concurrency: number): void {
    this.#concurrency = concurrency;
    this.#fit();
  }

  get waiting(): number {
    return this.#line.size;
  }

  get inFlight(): number {
    return this.#direct + this.#places.pending;
  }

  /**
   * A caller calls: the reason if its call gets no place to wait, else null. A refused caller counts as one that calls too:
   * else a flood that holds all places would never leave one to it.
   */
  refusalFor(caller: string | null): string | null {
    const now = this.#elapsed();
    this.#note(caller, now);
    const { size } = this.#line;
    if (size >= CONNECTOR_MAX_WAITING) return `${CONNECTOR_MAX_WAITING} calls wait already`;
    if (size < MAX_WAITING_OF_ONE || now - this.#otherAt >= OTHERS_MS) return null;
    const own = this.#line.sizeOf(caller);
    return own < FEW ? null : `${own} calls of this bundle wait already, and the last places are for others`;
  }

  /** Nothing begins until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#fit();
  }

  resume(): void {
    this.#isPaused = false;
    this.#fit();
  }

  add(call: QueuedCall): void {
    if (this.#mayBeginAtOnce(call)) {
      this.#direct += 1;
      call.hasPlace = true;
      if (call.waitsForOthers) this.#longInFlight += 1;
      call.run();
      return;
    }
    this.#line.add(call);
    this.#open();
  }

  /** A call that ran has ended or left its place, so that is free. A second time does nothing. */
  ended(call: QueuedCall): void {
    if (!call.hasPlace) return;
    call.hasPlace = false;
    if (call.freePlace !== null) {
      call.freePlace();
      return;
    }
    this.#direct -= 1;
    if (this.#places.size > 0) this.#fit();
    if (call.waitsForOthers) this.#endLong();
  }

  /** Drops every call that has not begun. */
  dropWaiting(): void {
    this.#owed = 0;
    this.#places.clear();
    for (const call of this.#line.takeAll()) {
      call.drop();
    }
  }

  #mayBeginAtOnce({ waitsForOthers }: QueuedCall): boolean {
    const isFree = !this.#isPaused && this.#line.size === 0 && this.inFlight < this.#concurrency;
    return isFree && (!waitsForOthers || this.#mayBeginLong);
  }

  get #mayBeginLong(): boolean {
    return this.#longInFlight < Math.ceil(this.#concurrency / 2);
  }

  /** Leaves p-queue the places that are not taken by calls that began at once. */
  #fit(): void {
    const left = this.#concurrency - this.#direct;
    if (this.#isPaused || left < 1) {
      this.#places.pause();
      return;
    }
    this.#places.concurrency = left;
    this.#places.start();
  }

  #open(): void {
    this.#fit();
    // Rejects only where what waited was dropped.
    this.#places.add(() => this.#runNext()).catch(() => undefined);
  }

  #runNext(): Promise<void> | undefined {
    const call = this.#line.take(this.#mayBeginLong);
    if (call === null) {
      if (this.#line.size > 0) this.#owed += 1;
      return;
    }
    if (call.waitsForOthers) this.#longInFlight += 1;
    call.hasPlace = true;
    return new Promise((resolve) => {
      call.freePlace = () => {
        resolve();
        if (call.waitsForOthers) this.#endLong();
      };
      call.run();
    });
  }

  #endLong(): void {
    this.#longInFlight -= 1;
    if (this.#owed === 0) return;
    this.#owed -= 1;
    this.#open();
  }

  #note(caller: string | null, now: number): void {
    if (caller !== this.#lastCaller) this.#otherAt = this.#lastAt;
    this.#lastCaller = caller;
    this.#lastAt = now;
  }
}

/** A call that was accepted. It either runs or is dropped. */
export interface QueuedCall {
  /** Null if the host does not name the caller. */
  readonly caller: string | null;
  /** At most half of the places in flight are for such calls. */
  readonly waitsForOthers: boolean;
  /** The queue's own: it holds a place in flight. */
  hasPlace: boolean;
  /** The queue's own: frees the place of a call that had to wait for it. */
  freePlace: (() => void) | null;
  /** Never throws; `CallQueue.ended` follows. */
  run(): void;
  drop(): void;
}

/** Calls that wait, and whose turn it is: callers in turn, the calls of each in their order (contract section 8). */
class WaitingLine {
  /** In the order of their turns. A caller without waiting calls is not in it. */
  readonly #callers = new Map<string | null, QueuedCall[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(caller: string | null): number {
    return this.#callers.get(caller)?.length ?? 0;
  }

  add(call: QueuedCall): void {
    const calls = this.#callers.get(call.caller);
    if (calls === undefined) this.#callers.set(call.caller, [call]);
    else calls.push(call);
    this.#size += 1;
  }

  /** Null if no waiting call may begin. */
  take(mayBeginLong: boolean): QueuedCall | null {
    for (const [caller, calls] of this.#callers) {
      const place = mayBeginLong ? 0 : calls.findIndex(({ waitsForOthers }) => !waitsForOthers);
      const [call] = place < 0 ? [] : calls.splice(place, 1);
      if (call === undefined) continue;
      this.#size -= 1;
      this.#callers.delete(caller);
      // The next turn of this caller comes after all others'.
      if (calls.length > 0) this.#callers.set(caller, calls);
      return call;
    }
    return null;
  }

  /** Empties the line. */
  takeAll(): QueuedCall[] {
    const all = [...this.#callers.values()].flat();
    this.#callers.clear();
    this.#size = 0;
    return all;
  }
}
