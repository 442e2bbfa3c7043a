export interface ApiRequest {
  /** The route's own constant; what is signed. */
  readonly path: string;
  /** The exact text that is signed and sent, the same for every attempt. */
  readonly payload: string;
  /** The operation's own limit for one attempt; null: that of the configuration. */
  readonly timeoutMs: number | null;
  /** Whether a second time does no harm. */
  readonly isRepeatable: boolean;
}
