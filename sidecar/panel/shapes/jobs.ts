/** The `status` of routes that start work, and the event `job`. */
export interface JobStatus {
  readonly id: string;
  readonly kind: string;
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** 0 to 1. */
  readonly progress: number;
  /** For people, English; what it does now, or why it failed. */
  readonly message: string;
  readonly outcome: unknown;
}
