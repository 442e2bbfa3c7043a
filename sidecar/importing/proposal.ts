import type { JsonObject } from '#protocol/json.ts';
import type { Column, Schema, Table } from '#protocol/schema.ts';
import type { SourceColumn, SourceTable } from './source.ts';

/** Old names to new ones, only if they differ. */
export interface Renames {
  readonly tables: Readonly<Record<string, string>>;
  /** By the old name of their table. */
  readonly columns: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Note {
  /** Source names; null for what is said of the whole database, or of the whole table. */
  readonly table: string | null;
  readonly column: string | null;
  readonly text: string;
}

/** How rows of a source table become rows of a declared one. */
export interface TablePlan {
  readonly source: SourceTable;
  /** How many there are. */
  readonly rows: number;
  readonly table: Table;
  readonly columns: readonly { readonly source: SourceColumn; readonly column: Column }[];
}

export interface Proposal {
  readonly schema: Schema;
  /** As an owner would declare it, without what has a default. */
  readonly declared: JsonObject;
  readonly renames: Renames;
  readonly notes: readonly Note[];
  readonly plans: readonly TablePlan[];
}
