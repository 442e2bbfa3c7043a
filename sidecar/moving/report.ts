/** What a move tells while it runs. */
export interface MoveReport {
  /** One line. */
  say(line: string): void;
  /** Rows to come under a name; ends what was begun before. */
  begin(label: string, rows: number): void;
  advance(rows: number): void;
  /** Lines with columns below each other; `right` names those that hold numbers. */
  table(header: readonly string[], cells: readonly (readonly string[])[], right: readonly string[]): void;
  end(): void;
}
