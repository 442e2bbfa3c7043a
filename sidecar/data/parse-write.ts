import { ApiError } from '#protocol/errors.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import type { Write } from '../engine/rows.ts';
import { parseInc, parseSet, timeValue } from './rows.ts';
import { columnsOf } from './table-columns.ts';

/** @throws ApiError `invalid_request` for nothing to do, or a column in both `set` and `inc` */
export function parseUpdate(
  payload: PayloadOf<'update'>,
  table: Table,
  now: number,
): Omit<Write & { op: 'update' }, 'filter'> {
  const columns = columnsOf(table);
  const set = parseSet(columns, payload.set ?? {});
  const inc = parseInc(columns, payload.inc ?? {});
  if (set.size + inc.size === 0) throw new ApiError('invalid_request', 'set, inc: expected at least one column');
  for (const name of inc.keys()) {
    if (set.has(name)) throw new ApiError('invalid_request', `inc.${name}: the column stands in set as well`);
  }
  for (const column of columns.setAtUpdate) if (!set.has(column.name)) set.set(column.name, timeValue(column, now));
  return { op: 'update', set, inc };
}
