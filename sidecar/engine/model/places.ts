import { Turns } from '#sidecar/turns.ts';
import { type CallBounds, OWN_CALLS } from '../rows.ts';
import { Deadlines, type Expiring } from './deadlines.ts';

/** A caller is expected to call again within this time. */
const ACTIVE_MS = 10_000;

interface Caller {
  held: number;
  /** `performance.now()` of its last call. */
  calledAtMs: number;
}

interface WaitingCall extends Expiring {
  readonly caller: string;
  readonly begin: () => void;
}

/**
 * As many calls at a time as there are connections; the others wait by turns of their callers. While several callers are active,
 * the last free place is for one that holds fewer: long calls of one caller do not keep the others out. The sidecar's own
 * calls are no such caller.
 */
export class Places {
  readonly #count: number;
  #free: number;
  readonly #waiting = new Turns<WaitingCall>();
  readonly #deadlines = new Deadlines();
  /** By key id, which the configuration bounds. */
  readonly #callers = new Map<string, Caller>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  /** @throws the error of `late` if there is no place by the deadline; `work` has not run then */
  async run<T>({ deadline, caller = OWN_CALLS }: CallBounds, work: () => Promise<T>, late: () => Error): Promise<T> {
    this.#callerOf(caller).calledAtMs = performance.now();
    if (this.#waiting.size > 0) this.#serve();
    if (this.#mayTake(caller)) this.#take(caller);
    else if (!(await this.#wait(caller, deadline))) throw late();
    try {
      return await work();
    } finally {
      this.#callerOf(caller).held -= 1;
      this.#free += 1;
      this.#serve();
    }
  }

  /** Resolves with whether the call got its place before its deadline. */
  #wait(caller: string, deadline: number): Promise<boolean> {
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#deadlines.delete(call);
        resolve(true);
      };
      const expire = (): void => {
        this.#waiting.delete(caller, call);
        resolve(false);
      };
      const call: WaitingCall = { caller, deadline, begin, expire };
      this.#waiting.add(caller, call);
      this.#deadlines.add(call);
    });
  }

  #serve(): void {
    while (this.#free > 0) {
      const next = this.#waiting.take({ mayServe: (caller) => this.#mayTake(caller) });
      if (next === undefined) return;
      this.#take(next.caller);
      next.begin();
    }
  }

  #take(caller: string): void {
    this.#free -= 1;
    this.#callerOf(caller).held += 1;
  }

  #mayTake(caller: string): boolean {
    if (this.#free !== 1 || this.#count === 1 || caller === OWN_CALLS) return this.#free > 0;
    return this.#callerOf(caller).held < this.#count - 1 || !this.#hasOthers(caller);
  }

  #hasOthers(caller: string): boolean {
    const sinceMs = performance.now() - ACTIVE_MS;
    for (const [name, { calledAtMs }] of this.#callers) {
      if (name !== caller && name !== OWN_CALLS && calledAtMs > sinceMs) return true;
    }
    return false;
  }

  #callerOf(name: string): Caller {
    let caller = this.#callers.get(name);
    if (caller === undefined) {
      caller = { held: 0, calledAtMs: 0 };
      this.#callers.set(name, caller);
    }
    return caller;
  }
}
