import { ApiError } from '#protocol/errors.ts';
import { type Filter, parseFilter } from '#protocol/filter.ts';
import type { JsonObject } from '#protocol/json-value.ts';
import type { Table } from '#protocol/schema.ts';
import type { Capabilities } from '../engine/engine.ts';

/** @throws ApiError `invalid_filter`, also for a `json` column if the engine cannot filter by one; `unknown_column` */
export function readFilter(filter: JsonObject | undefined, table: Table, capabilities: Capabilities): Filter | null {
  if (filter === undefined) return null;
  const read = parseFilter(filter, table);
  if (!capabilities.filterableJson) checkNoJson(read);
  return read;
}

function checkNoJson(filter: Filter): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      for (const member of filter.filters) checkNoJson(member);
      return;
    case 'not':
      checkNoJson(filter.filter);
      return;
    case 'compare':
    case 'in':
    case 'null':
    case 'text':
    case 'constant':
      if (filter.column.type !== 'json') return;
      throw new ApiError(
        'invalid_filter',
        `filter: ${filter.column.name} is json, by which this database cannot filter`,
      );
    default:
      filter satisfies never;
  }
}
