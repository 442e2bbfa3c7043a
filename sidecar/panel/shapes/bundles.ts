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

/** `info` of `POST /api/bundles/delete-info`. */
export interface DeleteInfo {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  readonly state: BundleState;
  /** Bundles that run and need it, directly or by others: they stop with it. */
  readonly dependents: readonly string[];
  readonly autostart: boolean;
  /** Tables and columns that the bundle's part of a schema declares; null if there are none. */
  readonly data: { readonly tables: readonly PartTable[] } | null;
  /** Source project that the bundle is built from, or null. */
  readonly source: string | null;
  /** Stands for this preview: a bundle that differs from it is not deleted. */
  readonly hash: string;
  /** ISO 8601 UTC with milliseconds: until when it could be restored. */
  readonly undoUntil: string;
}

export interface PartTable {
  /** `namespace.table`, or `namespace.table.column` of a table of another part. */
  readonly name: string;
  /** null if they cannot be counted in time. */
  readonly rows: number | null;
}

/** Deleted bundle of `GET /api/bundles/trash`. */
export interface TrashedBundle {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly by: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly until: string;
  readonly bytes: number;
}

/** Bundle of `GET /api/bundles/metadata`. */
export interface BundleMetadata {
  readonly name: string;
  /** Tags of the manifest (FXServer: the folders in brackets), then the panel's own. */
  readonly tags: readonly string[];
  readonly ownTags: readonly string[];
  /** Whether the next start of the server starts it. */
  readonly autostart: boolean;
  /** null if manifests of this kind of server do not say it. */
  readonly manifestAutostart: boolean | null;
}
