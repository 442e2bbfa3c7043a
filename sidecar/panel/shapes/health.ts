/** Event `health`: the database below the sidecar and the write queue. Without this event all is well. */
export interface DatabaseHealth {
  /** ISO 8601 UTC; null while the database answers. */
  readonly unreachableSince: string | null;
  /** Queued writes; 0 without a write queue. */
  readonly pendingWrites: number;
  /** `halted`: the database refused the queued writes too often. `unavailable`: the journal takes no writes. */
  readonly queue: 'ok' | 'halted' | 'unavailable';
}
