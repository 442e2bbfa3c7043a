/** Stands for an id that an earlier operation of the same atomic batch has made: what `Q.Result` makes. */
export interface ResultReference {
  readonly $result: readonly [operation: number, row: number];
}
