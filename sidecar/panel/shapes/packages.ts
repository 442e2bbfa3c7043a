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
