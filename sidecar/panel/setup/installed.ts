export interface Installed {
  readonly serverRoot: string;
  /** What was put there, and what was there already and stays: paths, relative to the root. */
  readonly made: readonly string[];
  readonly kept: readonly string[];
  /** What the owner still has to do. */
  readonly notes: readonly string[];
  /** Of FXServer, where its program was found. */
  readonly startLine: string;
}
