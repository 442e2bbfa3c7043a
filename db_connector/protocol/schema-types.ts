import type { Column } from './columns.ts';

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** Normalised: indexes by name, columns in declared order, `primaryKey` absent if none is declared. */
export interface Table {
  readonly name: string;
  readonly primaryKey?: readonly string[];
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
}

/** Normalised: tables by name. */
export interface Schema {
  readonly tables: readonly Table[];
  /** Stored schemas only: the parts of `schema.extend`, by name; all else is the main part's. */
  readonly parts?: readonly Part[];
}

/** The part that `schema.sync` declares: all that no other part has declared. */
export const MAIN_PART = 'main';

/** Share of one part in a namespace's schema (contract section 11), by names; the tables hold the rest. */
export interface Part {
  readonly name: string;
  /** Tables of its own, whatever others have added to them. */
  readonly tables: readonly string[];
  /** On tables of others, by table. */
  readonly extensions: readonly Extension[];
}

export interface Extension {
  readonly table: string;
  readonly columns: readonly string[];
  readonly indexes: readonly string[];
}
