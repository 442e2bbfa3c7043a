import { reservedColumns } from '../model/physical-names.ts';

/** Every table has these columns, whatever it declares. `oid` was one of them before PostgreSQL 12. */
export const COLUMNS = reservedColumns(['cmax', 'cmin', 'ctid', 'tableoid', 'xmax', 'xmin']);

/** Of a table, column, index or generator. Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `"${COLUMNS.physical(name)}"`;
}
