import type { Capabilities } from '#engine/engine.ts';
import { COLUMN_TYPES, type Column } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { columnsOf } from '#sidecar/data/table-columns.ts';
import type { ColumnInfo } from '../shapes/database.ts';

/** In the order of the declaration; columns that are still being filled cannot be read yet. */
export function columnInfos(table: Table, capabilities: Capabilities): ColumnInfo[] {
  const { names, byName, primaryKey } = columnsOf(table);
  return names.map((name) => infoOf(byName.get(name) as Column, primaryKey.has(name), capabilities));
}

function infoOf(column: Column, isKey: boolean, { filterableJson }: Capabilities): ColumnInfo {
  const { name, type, nullable, length, oneOf } = column;
  const facts = COLUMN_TYPES[type];
  return {
    ...{ name, type, nullable },
    ...(length === undefined ? {} : { length }),
    ...(type === 'decimal' ? { precision: decimalPrecision(column), scale: decimalScale(column) } : {}),
    ...(oneOf === undefined ? {} : { oneOf }),
    isKey,
    isUnique: column.unique,
    isEditable: !isKey && column.derived === undefined,
    filterOps: type === 'json' && !filterableJson ? [] : facts.filterOps,
    isSortable: facts.isSortable,
  };
}
