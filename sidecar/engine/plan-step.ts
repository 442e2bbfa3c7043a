import type { Column, Index, Table } from '#protocol/schema.ts';

/**
 * One step from the stored schema to the declared one, with all that an engine needs to do it.
 * Steps come in the order in which they are to be done.
 */
export type PlanStep =
  | { readonly kind: 'createTable'; readonly table: Table }
  | { readonly kind: 'renameTable'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'dropTable' | 'quarantineTable';
      readonly table: Table;
      /** Whose it was; absent for the main part. */
      readonly part?: string;
    }
  | { readonly kind: 'addColumn'; readonly table: string; readonly column: Column }
  | { readonly kind: 'renameColumn'; readonly table: string; readonly from: string; readonly to: string }
  | { readonly kind: 'alterColumn'; readonly table: string; readonly from: Column; readonly to: Column }
  | {
      readonly kind: 'dropColumn' | 'quarantineColumn';
      readonly table: string;
      readonly column: Column;
      /** As for a table. */
      readonly part?: string;
    }
  | {
      readonly kind: 'changePrimaryKey';
      readonly table: string;
      readonly from: readonly string[] | null;
      readonly to: readonly string[] | null;
    }
  | { readonly kind: 'addIndex' | 'dropIndex'; readonly table: string; readonly index: Index };
