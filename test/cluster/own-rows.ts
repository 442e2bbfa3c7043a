import type { Outcome } from './calls.ts';

/** Null: there is no row. */
type Value = number | null;

interface OwnRow {
  acknowledged: Value;
  /** Values of calls whose outcome nobody knows: each may still be stored, by a sidecar that wakes up. */
  readonly possible: Set<Value>;
}

/** Rows with one writer each: what a read may find. */
export class OwnRows {
  readonly #rows = new Map<number, OwnRow>();

  get ids(): number[] {
    return [...this.#rows.keys()];
  }

  wrote(id: number, value: Value, outcome: Outcome): void {
    const row = this.#rows.get(id) ?? { acknowledged: null, possible: new Set() };
    this.#rows.set(id, row);
    if (outcome === 'done') row.acknowledged = value;
    if (outcome === 'unknown') row.possible.add(value);
  }

  isRight(id: number, found: Value): boolean {
    const row = this.#rows.get(id);
    return row === undefined || row.acknowledged === found || row.possible.has(found);
  }
}
