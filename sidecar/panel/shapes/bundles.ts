export type BundleState = 'stopped' | 'starting' | 'started' | 'failed' | 'unknown';

/** One of `GET /api/bundles`. All of it is what somebody wrote into a manifest: hostile until it is shown as text. */
export interface BundleInfo {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly state: BundleState;
  readonly dependencies: readonly string[];
  readonly tags: readonly string[];
  readonly autostart: boolean;
}
