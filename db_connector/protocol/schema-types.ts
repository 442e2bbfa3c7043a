import type { Column } from './columns.ts';

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** Normalised: indexes by name, columns in declared order, `primaryKey` absent where none is declared. */
export interface Table {
  readonly name: string;
  readonly primaryKey?: readonly string[];
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
}

/** Normalised: tables by name. */
export interface Schema {
  readonly tables: readonly Table[];
}
