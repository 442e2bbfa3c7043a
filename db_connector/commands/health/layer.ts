/** What a look at one layer has found. */
export interface Finding {
  readonly isWell: boolean;
  /** What was tried, and what came back. */
  readonly said: string;
  /** What to do, where something is. */
  readonly todo?: string;
  /** Harm that was done although the layer works, for the last line. */
  readonly harm?: string;
}

/** One of the layers between a script and its rows, from here to the far end. */
export interface Layer {
  readonly name: string;
  /** Never rejects. */
  look(): Finding | Promise<Finding>;
}

export function well(said: string, todo?: string): Finding {
  return todo === undefined ? { isWell: true, said } : { isWell: true, said, todo };
}

export function broken(said: string, todo: string): Finding {
  return { isWell: false, said, todo };
}
