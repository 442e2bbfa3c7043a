/** Result of a look at one layer. */
export interface Finding {
  readonly isWell: boolean;
  /** The attempt, and its answer. */
  readonly said: string;
  /** Advice for the owner, if there is any. */
  readonly todo?: string;
  /** The layer was not asked: no fault of it is known, and no more. */
  readonly isUnknown?: true;
  /** Harm that was done although the layer works, for the last line. */
  readonly harm?: string;
}

/** A layer between a script and its rows, from here to the far end. */
export interface Layer {
  readonly name: string;
  /** Never rejects. */
  look(): Finding | Promise<Finding>;
}

export function well(said: string, todo?: string): Finding {
  return todo === undefined ? { isWell: true, said } : { isWell: true, said, todo };
}

export function unknown(said: string, todo?: string): Finding {
  return { ...well(said, todo), isUnknown: true };
}

export function broken(said: string, todo: string): Finding {
  return { isWell: false, said, todo };
}
