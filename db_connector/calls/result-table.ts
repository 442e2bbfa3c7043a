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
  readonly #entries = new Map<string, Entry>();
  /** Ids of results that wait to be collected, by caller, the oldest first. */
  readonly #ready = new Map<string | undefined, Set<string>>();
  readonly #uncollected = new Uncollected();
  #stop: Cancel | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  open(id: string, caller: string | undefined): void {
    this.#entries.set(id, { caller, result: null, expiresAt: Number.POSITIVE_INFINITY });
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
    this.#readyOf(entry.caller).add(id);
    this.#uncollected.add(entry.caller, entry.result.json.length);
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
    const ids = [...(this.#ready.get(caller) ?? [])];
    return ids.length > max ? ids.slice(0, max) : ids;
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
    for (const [id, entry] of this.#entries) {
      if (entry.caller === caller) this.#remove(id);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#ready.clear();
    this.#uncollected.clear();
    this.#stop?.();
    this.#stop = null;
  }

  #remove(id: string): void {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    if (!entry?.result) return;
    this.#uncollected.remove(entry.caller, entry.result.json.length);
    this.#ready.get(entry.caller)?.delete(id);
  }

  #readyOf(caller: string | undefined): Set<string> {
    let ids = this.#ready.get(caller);
    if (ids === undefined) {
      ids = new Set();
      this.#ready.set(caller, ids);
    }
    return ids;
  }

  /** Lifetimes differ only across a `db-reload`, so the first of a caller that is not over ends its sweep. */
  #sweep(): void {
    const now = this.#timers.elapsed();
    for (const [caller, ids] of this.#ready) {
      for (const id of ids) {
        if ((this.#entries.get(id)?.expiresAt ?? 0) > now) break;
        this.#remove(id);
      }
      if (ids.size === 0) this.#ready.delete(caller);
    }
    if (this.#ready.size === 0) {
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
  results: number;
  chars: number;
}

const NOTHING: Readonly<Account> = { results: 0, chars: 0 };

/** Results that wait to be collected: how many and how long, by caller. Undefined is the caller of a host that does not tell it. */
class Uncollected {
  readonly #accounts = new Map<string | undefined, Account>();
  #chars = 0;

  /** The reason if so much waits that the caller must collect first, else null. */
  refusalFor(caller: string | undefined): string | null {
    const { results, chars } = this.#accounts.get(caller) ?? NOTHING;
    if (results >= MAX_RESULTS) return refusal(`${MAX_RESULTS} results wait for this bundle`);
    if (chars >= MAX_CHARS_OF_ONE) return refusal(`${inWords(chars)} of results wait for this bundle`);
    if (this.#chars >= MAX_CHARS && chars > FEW_CHARS) {
      return refusal(`${inWords(this.#chars)} of results wait for all bundles`);
    }
    return null;
  }

  add(caller: string | undefined, chars: number): void {
    const account = this.#accounts.get(caller) ?? { ...NOTHING };
    this.#accounts.set(caller, account);
    account.results += 1;
    account.chars += chars;
    this.#chars += chars;
  }

  /** Takes back what `add` was told. */
  remove(caller: string | undefined, chars: number): void {
    const account = this.#accounts.get(caller);
    if (account === undefined) return;
    account.results -= 1;
    account.chars -= chars;
    this.#chars -= chars;
    if (account.results === 0) this.#accounts.delete(caller);
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
