/** How a host lets the connector run a thread of its own. */
export interface WorkerPlace {
  /** Text of the worker's program, a classic script; null if the bundle holds none, as in its sources. */
  readonly code: string | null;
  /** Step that the owner must take so that this host lets the connector start a thread; null: none. */
  readonly permissionHint: string | null;
}
