/** Panel contract, "Order of checks". */
export const MAX_UPLOAD_BYTES = 256 * 2 ** 20;

/** Bundle of an inspected archive: the dry run of its install. */
export interface UploadedBundle {
  /** Folder of the archive; empty for its top. */
  readonly from: string;
  /** Proposed name; an install may choose another. */
  readonly name: string;
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
  readonly dependencies: readonly string[];
  /** Dependencies that are neither installed nor in the archive. */
  readonly missing: readonly string[];
  /** Installed version; null if no bundle of this name is installed. */
  readonly installed: string | null;
  /** Numbers of files, against what is installed. */
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Files edited by hand since the install, which `keep` of an install carries over. */
  readonly edited: readonly string[];
  /** Codes: `unmanaged` (installed by hand: nothing is known of edited files, all is kept as a version). */
  readonly warnings: readonly string[];
}

/** `upload` of `POST /api/bundle-tools/upload`. */
export interface Upload {
  readonly id: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly expiresAt: string;
  readonly bundles: readonly UploadedBundle[];
  /** Number of entries that belong to no bundle. */
  readonly ignored: number;
}
