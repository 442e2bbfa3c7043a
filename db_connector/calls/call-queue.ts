import PQueue from 'p-queue';
import { CONNECTOR_MAX_WAITING } from '../protocol/limits.ts';

/** While others call too, one caller holds at most this many of the places to wait (contract section 8). */
const MAX_WAITING_OF_ONE = 448;
/** From there on, several that flood at once leave the last places to those with few calls waiting. */
const FEW = 16;
/** Time for which a caller counts as one of several that call. */
const OTHERS_MS = 10_000;

/** Accepted calls: `concurrency` in flight, at most 512 that wait. A call keeps its place between its attempts. */
export class CallQueue {
  /** Holds the places in flight; whose call gets one is the line's to say. */
  readonly #places = new PQueue({ concurrency: 1 });
  readonly #line = new WaitingLine();
  readonly #elapsed: () => number;
  #longInFlight = 0;
  /** Places that found only long calls while enough long calls were in flight. */
  #owed = 0;
  /** The latest caller and its time, and the time of the latest call of another one. Refused calls count. */
  #last: { caller: string | null; at: number } = { caller: null, at: Number.NEGATIVE_INFINITY };
  #otherAt = Number.NEGATIVE_INFINITY;

  /** @param elapsed milliseconds that only grow */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  setConcurrency(concurrency: number): void {
    this.#places.concurrency = concurrency;
  }

  get waiting(): number {
    return this.#line.size;
  }

  get inFlight(): number {
    return this.#places.pending;
  }

  /**
   * A caller calls: the reason if its call gets no place to wait, else null. A refused caller counts as one that calls too:
   * else a flood that holds all places would never leave one to it.
   */
  refusalFor(caller: string | null): string | null {
    this.#note(caller);
    const { size } = this.#line;
    const own = this.#line.sizeOf(caller);
    const hasOthers = this.#hasOthers(caller);
    if (size >= CONNECTOR_MAX_WAITING) return `${CONNECTOR_MAX_WAITING} calls wait already`;
    if (hasOthers && size >= MAX_WAITING_OF_ONE && own >= FEW) {
      return `${own} calls of this bundle wait already, and the last places are for others`;
    }
    return null;
  }

  /** Nothing begins until `resume`. */
  pause(): void {
    this.#places.pause();
  }

  resume(): void {
    this.#places.start();
  }

  add(call: QueuedCall): void {
    this.#line.add(call);
    this.#open();
  }

  /** Drops every call that has not begun. */
  dropWaiting(): void {
    this.#owed = 0;
    this.#places.clear();
    for (const call of this.#line.takeAll()) {
      call.drop();
    }
  }

  #open(): void {
    // Rejects only where what waited was dropped.
    this.#places.add(() => this.#runNext()).catch(() => undefined);
  }

  async #runNext(): Promise<void> {
    const mayBeginLong = this.#longInFlight < Math.ceil(this.#places.concurrency / 2);
    const call = this.#line.take(mayBeginLong);
    if (call === null) {
      if (this.#line.size > 0) this.#owed += 1;
      return;
    }
    if (!call.isLong) return call.run();
    this.#longInFlight += 1;
    try {
      await call.run();
    } finally {
      this.#longInFlight -= 1;
      this.#payOne();
    }
  }

  #payOne(): void {
    if (this.#owed === 0) return;
    this.#owed -= 1;
    this.#open();
  }

  #note(caller: string | null): void {
    const now = this.#elapsed();
    if (caller !== this.#last.caller) this.#otherAt = this.#last.at;
    this.#last = { caller, at: now };
  }

  #hasOthers(caller: string | null): boolean {
    const at = this.#last.caller === caller ? this.#otherAt : this.#last.at;
    return this.#elapsed() - at < OTHERS_MS;
  }
}

/** A call that was accepted. It either runs or is dropped. */
interface QueuedCall {
  /** Null if the host does not name the caller. */
  readonly caller: string | null;
  /** Waits for others: at most half of the places in flight are for such calls. */
  readonly isLong: boolean;
  /** Never rejects. */
  run(): Promise<void>;
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
      const place = mayBeginLong ? 0 : calls.findIndex(({ isLong }) => !isLong);
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
