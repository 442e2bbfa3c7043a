export type BundleState = 'stopped' | 'starting' | 'started' | 'failed' | 'unknown';

/** Bundle of `GET /api/bundles`. Every field comes from a manifest: hostile until it is shown as text. */
export interface BundleInfo {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly state: BundleState;
  readonly dependencies: readonly string[];
  readonly tags: readonly string[];
  readonly autostart: boolean;
}
