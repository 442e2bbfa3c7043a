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

/** Host of the database that a sidecar uses. */
export interface DatabaseHost {
  /** As `database.url` names it. */
  readonly host: string;
  /** First host of `database.url`, as long as another one is used. */
  readonly insteadOf: string | null;
  readonly hasOthers: boolean;
}

/** Answer of `GET /api/cluster`. */
export interface ClusterAnswer {
  /** The sidecar that answers. */
  readonly own: Box;
  /** Other sidecars of the same database. */
  readonly others: readonly Box[];
  /** Null for an embedded database, and for one that was not reached yet. */
  readonly database: DatabaseHost | null;
  /** No write is acknowledged, as the synchronous standby of the database is away. */
  readonly lacksStandby: boolean;
}
