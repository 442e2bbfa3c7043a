/** Part of the panel that changes bundles before a start, and watches how the server runs with them. */
export interface StartWatch {
  /** Directly before each launch. Never throws. */
  beforeLaunch(): void;
  /** Limit of the server's silence while it is watched; null: the setting counts. */
  hangMs(): number | null;
  /** For the record of a crash; null: nothing is watched. */
  note(): string | null;
}
