/** Branches of a project that a page compares. */
export interface ComparedPair {
  readonly project: string;
  readonly base: string;
  readonly head: string;
}
