/** How large a table is, as far as the database can tell without reading all of it. Null is what it does not tell in time. */
export interface TableSize {
  /** Declared name. */
  readonly table: string;
  readonly rows: number | null;
  /** The database's own estimate, which may be old. */
  readonly isEstimate: boolean;
  /** With its indexes. */
  readonly bytes: number | null;
}

export function unknownSize(table: string): TableSize {
  return { table, rows: null, isEstimate: false, bytes: null };
}
