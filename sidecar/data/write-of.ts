import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { JsonObject } from '#protocol/json.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import type { Capabilities } from '../engine/engine.ts';
import type { Write } from '../engine/rows.ts';
import { parseUpsert } from './parse-upsert.ts';
import { readFilter } from './read-filter.ts';
import { completeRow, parseInc, parseSet, timeValue } from './rows.ts';
import { columnsOf } from './table-columns.ts';

/** Operations that change rows, and that write-behind may queue. */
export type WriteName = 'insert' | 'update' | 'upsert' | 'delete';

export interface WriteContext {
  readonly capabilities: Capabilities;
  readonly maxInsertRows: number;
  /** Epoch milliseconds: value of the default `now`. */
  readonly now: number;
}

type Compile<Op extends WriteName> = (payload: PayloadOf<Op>, table: Table, context: WriteContext) => Write;

const COMPILE: { readonly [Op in WriteName]: Compile<Op> } = {
  insert({ rows }, table, { maxInsertRows, now }) {
    if (rows.length > maxInsertRows) throw new ApiError('too_many_rows', `rows: expected at most ${maxInsertRows}`);
    const columns = columnsOf(table);
    return { op: 'insert', rows: rows.map((row, i) => completeRow(columns, row, `rows[${i}]`, now)) };
  },
  update(payload, table, { capabilities, now }) {
    return { ...parseUpdate(payload, table, now), filter: selectionOf(payload, table, capabilities) };
  },
  upsert(payload, table, { now }) {
    return parseUpsert(payload, table, now);
  },
  delete(payload, table, { capabilities }) {
    return { op: 'delete', filter: selectionOf(payload, table, capabilities) };
  },
};

/**
 * Compiles a payload on its table (contract section 5): the same for a write that runs at once and for one that is
 * queued, when it is accepted and again when it is applied. All that can be known without the database is checked here.
 * @throws ApiError
 */
export function writeOf<Op extends WriteName>(
  op: Op,
  payload: PayloadOf<Op>,
  table: Table,
  context: WriteContext,
): Write {
  return COMPILE[op](payload, table, context);
}

interface Selection {
  readonly filter?: JsonObject | undefined;
  readonly all?: boolean | undefined;
}

function selectionOf({ filter, all }: Selection, table: Table, capabilities: Capabilities): Filter | null {
  if (filter === undefined && all !== true) {
    throw new ApiError('filter_required', 'filter: expected a filter, or all: true with the permission for it');
  }
  return readFilter(filter, table, capabilities);
}

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
