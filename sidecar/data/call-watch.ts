/** A call of the API that was signed by a known key, as it was answered. */
export interface SeenCall {
  readonly operation: string;
  readonly kid: string;
  readonly address: string;
  /** Only to read names from it; none of its values may be kept or reported. Null if it could not be read. */
  readonly payload: object | null;
  /** `ok`, or the code of the refusal. */
  readonly code: string;
  /** From the head of the request to its answer. */
  readonly ms: number;
  /** Part of `ms` that was spent in waiting for the database. */
  readonly databaseMs: number;
}

/** Calls listeners with every answered call. They delay each answer, so they may do only a few additions. */
export class CallWatch {
  readonly #listeners: ((call: SeenCall) => void)[] = [];

  get hasListeners(): boolean {
    return this.#listeners.length > 0;
  }

  onCall(listener: (call: SeenCall) => void): void {
    this.#listeners.push(listener);
  }

  tell(call: SeenCall): void {
    for (const listener of this.#listeners) listener(call);
  }
}
