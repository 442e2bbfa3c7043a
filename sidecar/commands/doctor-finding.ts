/** What `doctor` has found of one thing. No secret ever stands in it. */
export interface Finding {
  /** `fail`: the sidecar cannot serve, or data are in danger. */
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly found: string;
  /** What to do. */
  readonly advice?: string;
}
