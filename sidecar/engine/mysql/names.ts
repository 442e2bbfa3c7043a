import { reservedColumns } from '../model/physical-names.ts';

/** InnoDB has these columns in every table, the last one for a full-text index. */
export const COLUMNS = reservedColumns(['db_roll_ptr', 'db_row_id', 'db_trx_id', 'fts_doc_id']);

/** Of a table, column or index. Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `\`${COLUMNS.physical(name)}\``;
}
