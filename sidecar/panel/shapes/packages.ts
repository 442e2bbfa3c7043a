/** `packages` of `packages/info`. Fields that only a network knows are null. */
export interface PackageView {
  readonly name: string;
  /** Range of package.json; null for a package that another one brings. */
  readonly wanted: string | null;
  /** Version of the lock. */
  readonly installed: string;
  readonly latest: string | null;
  readonly kind: 'direct' | 'dev' | 'optional' | 'peer' | 'transitive' | 'transitive-dev' | 'transitive-optional';
  readonly license: string | null;
  readonly published: string | null;
  readonly deprecated: string | null;
  /** It has install scripts, which are never run. */
  readonly scripts: boolean;
  readonly advisories: readonly string[] | null;
}

/** Package of the outcome of `packages/review`. */
export interface PackageChange {
  readonly name: string;
  /** null: it was not there, or is not any more. */
  readonly from: string | null;
  readonly to: string | null;
  /** The new version has install scripts, which are never run. */
  readonly scripts: boolean;
}

/** Wish of `packages/review`. `version` null: remove it. */
export interface PackageWish {
  readonly name: string;
  readonly version: string | null;
}

/** Outcome of `packages/review`. */
export interface PackageReviewOutcome {
  readonly branch: string;
  readonly commit: string;
  readonly review: number;
  readonly added: readonly PackageChange[];
  readonly removed: readonly PackageChange[];
  readonly changed: readonly PackageChange[];
  /** Packages with install scripts that come in, also those that others bring; they are never run. */
  readonly scripts: readonly string[];
}
