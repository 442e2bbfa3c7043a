/** Thrown where specification and contract leave open what happens next: the program cannot be judged any further. */
export class Undecided extends Error {}

/** An id that nobody but the database knows yet. */
export const UNKNOWN_ID = 'unknown id';

/** A retry inside may use ids as well. */
const IDS_OF_A_FAILED_ROW = 8n;

/**
 * The ids that a table gives. The last one lies from `low` to `high`: they differ only after a request that failed, which may
 * have used ids up or not.
 */
export class GeneratorState {
  readonly #max: bigint;
  #low = 0n;
  #high = 0n;
  /** An id that may have been left out. */
  #leftOut = 0n;

  constructor(max: bigint) {
    this.#max = max;
  }

  /** Null if no id is left. */
  next(): bigint | typeof UNKNOWN_ID | null {
    if (this.#low >= this.#max) return null;
    if (this.#high >= this.#max) throw new Undecided('the generator may be at its end');
    const isKnown = this.#low === this.#high;
    this.#low += 1n;
    this.#high += 1n;
    return isKnown ? this.#low : UNKNOWN_ID;
  }

  /** Ids that a request gave itself move the generator past them. `unknownAfter`: those between it and here are not known. */
  pass(id: bigint, unknownAfter: bigint | null): void {
    if (unknownAfter !== null && id > unknownAfter && id <= this.#high) {
      throw new Undecided('the id may be one that was just generated');
    }
    // MariaDB leaves id 2 out then; nothing promises ids without gaps.
    if (id <= 0n && this.#low === 1n) {
      this.#leftOut = 2n;
      if (this.#high < 2n) this.#high = 2n;
    }
    if (id > this.#low) this.#low = id;
    if (id > this.#high) this.#high = id;
  }

  copy(): GeneratorState {
    const copy = new GeneratorState(this.#max);
    copy.#low = this.#low;
    copy.#high = this.#high;
    copy.#leftOut = this.#leftOut;
    return copy;
  }

  mark(): bigint {
    return this.#low;
  }

  /** The request failed: nothing since `mark` is sure, and all that it held may have been passed. */
  fail(mark: bigint, explicit: readonly (bigint | null)[], kept: readonly bigint[]): void {
    this.#low = greatest([mark, ...kept]);
    const passed = greatest([this.#high, ...explicit.filter((id) => id !== null)]);
    const high = passed + BigInt(explicit.length) * IDS_OF_A_FAILED_ROW;
    this.#high = high > this.#max ? this.#max : high;
  }

  /** Generated ids were seen. `isWhole`: the request that they belong to was done, so that none was used after them. */
  see(ids: readonly bigint[], isWhole: boolean): void {
    this.#low = greatest([this.#low, ...ids]);
    const last = this.#low === 1n ? greatest([this.#low, this.#leftOut]) : this.#low;
    if (isWhole || this.#high < last) this.#high = last;
  }
}

function greatest(ids: readonly bigint[]): bigint {
  return ids.toSorted((a, b) => Number(a < b) - Number(a > b))[0] as bigint;
}
