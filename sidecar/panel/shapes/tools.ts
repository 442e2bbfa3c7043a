/** `tools` of `tools/latest` and of `GET /api/bundle-tools`. */
export interface ToolView {
  readonly name: 'git' | 'node' | 'npm';
  /** null: there is none. */
  readonly version: string | null;
  /** Where it lies. */
  readonly origin: string | null;
  /** Oldest version that is enough. */
  readonly minimum: string;
  /** Newest version that can be installed here; null if there is none. */
  readonly latest: string | null;
}
