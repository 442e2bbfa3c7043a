/** A sidecar of the database. */
export interface Box {
  readonly instance: string;
  /** Host name. */
  readonly box: string;
  /** Address of its API. */
  readonly url: string;
  readonly version: string;
  /** False if it has given no sign for 35 seconds. */
  readonly isAlive: boolean;
}

/** Answer of `GET /api/cluster`. */
export interface ClusterAnswer {
  /** The sidecar that answers. */
  readonly own: Box;
  /** Other sidecars of the same database. */
  readonly others: readonly Box[];
}
