/** A call of the API that was signed by a known key, as it was answered. */
export interface SeenCall {
  readonly operation: string;
  readonly kid: string;
  readonly address: string;
  /** Only to take names out of it; nothing of what it holds may be kept or told. Null where it could not be read. */
  readonly payload: object | null;
  /** `ok`, or the code of the refusal. */
  readonly code: string;
  /** From the head of the request to its answer. */
  readonly ms: number;
  /** Of it, waiting for the database. */
  readonly databaseMs: number;
}

/** Tells listeners of every answered call. They stand on the way of each answer: a few additions, no more. */
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
