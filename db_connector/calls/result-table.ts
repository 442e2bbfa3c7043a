import { OrderedTable } from '../client/ordered-table.ts';
import { errorResult, type Result } from '../client/outcome.ts';
import type { Cancel, Timers } from '../client/timers.ts';

const SWEEP_MS = 5000;

type Taken = Result | 'pending' | 'missing';

interface Entry {
  readonly caller: string | undefined;
  result: Result | null;
  /** In the `elapsed` of the timers; counts from the moment the result is ready. */
  expiresAt: number;
}

/** Tickets and their results. A result is handed out once, to the caller that holds the ticket. */
export class ResultTable {
  readonly #timers: Timers;
  readonly #entries = new OrderedTable<string, Entry>();
  readonly #uncollected = new Uncollected();
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  open(id: string, caller: string | undefined): void {
    this.#entries.add(id, { caller, result: null, expiresAt: Number.POSITIVE_INFINITY });
  }

  /**
   * Does nothing for a ticket that is gone, as after a stop. If too much waits for the caller, the answer of a read is replaced
   * by `busy`; the outcome of a write is always kept.
   */
  settle(id: string, result: Result, lifetimeMs: number, isRead: boolean): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return;
    }
    const refusal = isRead ? this.refusalFor(entry.caller) : null;
    entry.result = refusal === null ? result : errorResult('busy', refusal);
    entry.expiresAt = this.#timers.elapsed() + lifetimeMs;
    this.#uncollected.add(id, entry, entry.result);
    this.#stop ??= this.#timers.every(SWEEP_MS, () => this.#sweep());
  }

  /** @param caller undefined if the host does not name the caller; then any caller with the id collects */
  take(id: string, caller: string | undefined): Taken {
    const entry = this.#entries.get(id);
    if (entry === undefined || (entry.caller !== caller && caller !== undefined && entry.caller !== undefined)) {
      return 'missing';
    }
    if (entry.result === null) {
      return 'pending';
    }
    this.#remove(id);
    return entry.expiresAt > this.#timers.elapsed() ? entry.result : 'missing';
  }

  /** Ids of results that `caller` can collect now, the oldest first. */
  ready(caller: string | undefined, max: number): string[] {
    const ids: string[] = [];
    for (const [id] of this.#uncollected.of(caller)) {
      if (ids.push(id) >= max) break;
    }
    return ids;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The reason if so much waits for this caller that it must collect before it calls again, else null. */
  refusalFor(caller: string | undefined): string | null {
    return this.#uncollected.refusalFor(caller);
  }

  /** Drops what a caller has, ready or not. */
  forget(caller: string): void {
    for (const [id, entry] of this.#entries.entries()) {
      if (entry.caller === caller) this.#remove(id);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#uncollected.clear();
    this.#stop?.();
    this.#stop = null;
  }

  #remove(id: string): void {
    const entry = this.#entries.take(id);
    if (entry?.result) this.#uncollected.take(id, entry.caller, entry.result);
  }

  /** Lifetimes differ only across a `db-reload`, so the first of a caller that is not over ends its sweep. */
  #sweep(): void {
    const now = this.#timers.elapsed();
    for (const caller of this.#uncollected.callers()) {
      for (const [id, { expiresAt }] of this.#uncollected.of(caller)) {
        if (expiresAt > now) break;
        this.#remove(id);
      }
    }
    if (this.#uncollected.forgetIdle()) {
      this.#stop?.();
      this.#stop = null;
    }
  }
}

/** Results of one caller that wait. Many more than can be under way at once: only a caller that does not collect reaches it. */
const MAX_RESULTS = 10_000;
/** Characters of the results of one caller: at most 64 MB, as a character has one or two bytes. */
const MAX_CHARS_OF_ONE = 32_000_000;
/** Characters of the results of all callers: at most 256 MB. */
const MAX_CHARS = 128_000_000;
/** Beyond `MAX_CHARS` a caller with no more than this is still served. */
const FEW_CHARS = 1_000_000;

interface Account {
  /** Results that wait, the oldest first. */
  readonly ready: OrderedTable<string, Entry>;
  chars: number;
}

/** Results that wait to be collected, by caller. Undefined is the caller of a host that does not tell it. */
class Uncollected {
  /** A caller without results stays until `forgetIdle`: most come back within a tick. */
  readonly #accounts = new Map<string | undefined, Account>();
  #chars = 0;

  /** The reason if so much waits that the caller must collect first, else null. */
  refusalFor(caller: string | undefined): string | null {
    const account = this.#accounts.get(caller);
    if (account === undefined) return null;
    const { ready, chars } = account;
    if (ready.size >= MAX_RESULTS) return refusal(`${MAX_RESULTS} results wait for this bundle`);
    if (chars >= MAX_CHARS_OF_ONE) return refusal(`${inWords(chars)} of results wait for this bundle`);
    if (this.#chars >= MAX_CHARS && chars > FEW_CHARS) {
      return refusal(`${inWords(this.#chars)} of results wait for all bundles`);
    }
    return null;
  }

  callers(): Iterable<string | undefined> {
    return this.#accounts.keys();
  }

  /** Results of a caller by their ids, the oldest first. */
  of(caller: string | undefined): Iterable<[string, Entry]> {
    return this.#accounts.get(caller)?.ready.entries() ?? [];
  }

  add(id: string, entry: Entry, { json }: Result): void {
    let account = this.#accounts.get(entry.caller);
    if (account === undefined) {
      account = { ready: new OrderedTable(), chars: 0 };
      this.#accounts.set(entry.caller, account);
    }
    account.ready.add(id, entry);
    account.chars += json.length;
    this.#chars += json.length;
  }

  /** Takes back a result that `add` was given. */
  take(id: string, caller: string | undefined, { json }: Result): void {
    const account = this.#accounts.get(caller);
    if (account?.ready.take(id) === undefined) return;
    account.chars -= json.length;
    this.#chars -= json.length;
  }

  /** Forgets callers without results. True if none is left. */
  forgetIdle(): boolean {
    for (const [caller, { ready }] of this.#accounts) {
      if (ready.size === 0) this.#accounts.delete(caller);
    }
    return this.#accounts.size === 0;
  }

  clear(): void {
    this.#accounts.clear();
    this.#chars = 0;
  }
}

function refusal(fact: string): string {
  return `${fact}: collect them with TakeResult`;
}

function inWords(chars: number): string {
  return `${chars.toLocaleString('en')} characters`;
}
