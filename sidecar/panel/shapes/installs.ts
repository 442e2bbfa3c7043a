/**
 * State of a version of a bundle: `unproven` until it has run through its gate, `pending` until the next start of the server
 * puts it in place.
 */
export type VersionState = 'pending' | 'unproven' | 'kept' | 'rolledBack' | 'failed';

/** Version of `GET /api/bundles/versions?name=`, the newest first. */
export interface BundleVersion {
  readonly number: number;
  /** From the manifest; empty if it has none. */
  readonly version: string;
  /** `upload`, `project NAME`, `rollback`, or `hand` for files that the panel did not put there. */
  readonly origin: string;
  /** Account; empty for `hand`. */
  readonly by: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly state: VersionState;
  /** It lies in the server's folder. */
  readonly isCurrent: boolean;
  /** It can be put back: its files are kept. */
  readonly isKept: boolean;
}

/** Bundle of the outcome of an install, a build or a rollback. */
export interface InstalledBundle {
  readonly name: string;
  /** Versions from the manifests; null: no bundle of this name was there. */
  readonly from: string | null;
  readonly to: string;
  readonly state: VersionState;
  /** Why it was taken back or failed, or what to know of a kept one; empty for none. */
  readonly reason: string;
}

export interface InstallOutcome {
  readonly bundles: readonly InstalledBundle[];
  /** Tables and columns that went into quarantine meanwhile: data does not go back. */
  readonly quarantine: readonly string[];
}

/** `edited` of `GET /api/bundles/edited?name=`. */
export interface EditedFiles {
  /** The panel put the bundle there: else nothing is known of edited files. */
  readonly isManaged: boolean;
  /** Changed or added since the install, by name; not those of `kept`. */
  readonly files: readonly string[];
  /** There are further ones. */
  readonly more: boolean;
  /** Files of the owner that each install carries over. */
  readonly kept: readonly string[];
}

/** Bundles of a refusal, with the files that were edited since their install. */
export interface EditedBundle {
  readonly name: string;
  readonly files: readonly string[];
}
