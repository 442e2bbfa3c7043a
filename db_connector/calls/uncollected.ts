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
export class Uncollected {
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
