/** A call that was accepted. It either runs or is dropped. */
export interface QueuedCall {
  /** Null where the host does not tell. */
  readonly caller: string | null;
  /** Waits for others: at most half of the places in flight are for such calls. */
  readonly isLong: boolean;
  /** Never rejects. */
  run(): Promise<void>;
  drop(): void;
}

/** Calls that wait, and whose turn it is: callers in turn, the calls of each in their order (contract section 8). */
export class WaitingLine {
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

  /** Null where nothing waits that may begin. */
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
