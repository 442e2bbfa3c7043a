/** A number that is written digit for digit: what `Q.Number` makes. */
export interface ExactNumber {
  readonly text: string;
  toString(): string;
  toJSON(): unknown;
}
