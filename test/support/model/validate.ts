import { aggregateFaults } from './model-aggregate.ts';
import { filteredFields, hasLongSearch } from './model-filter.ts';
import {
  type Cells,
  columnOf,
  type ModelCapabilities,
  type ModelColumn,
  type ModelFilter,
  type ModelTable,
  type Step,
  uniqueSetsOf,
} from './types.ts';

const NUMERIC = ['int32', 'int64', 'decimal', 'float64'];

/** Codes of what is wrong with a request by itself; with several faults either is answered (contract section 4). */
export function faultsOf(table: ModelTable, step: Exclude<Step, { op: 'batch' }>, can: ModelCapabilities): string[] {
  switch (step.op) {
    case 'insert':
      return step.rows.length === 0 ? ['invalid_request'] : step.rows.flatMap((row) => rowFaults(table, row));
    case 'update':
      return [...filterFaults(table, step.filter, can), ...changeFaults(table, step.set, step.inc)];
    case 'upsert':
      return [
        ...rowFaults(table, step.row, Object.keys(step.inc)),
        ...keyFaults(table, step.row, step.keys),
        ...incFaults(table, step.inc, [...table.primaryKey, ...step.keys]),
        ...(step.update === null ? [] : takenFaults(table, step.update, step)),
      ];
    case 'aggregate':
      return [...filterFaults(table, step.filter, can), ...aggregateFaults(table, step)];
    case 'delete':
    case 'count':
      return filterFaults(table, step.filter, can);
    case 'find':
      return [
        ...filterFaults(table, step.filter, can),
        ...(step.fields?.length === 0 ? ['invalid_request'] : []),
        ...step.sort.flatMap(({ field }) => (columnOf(table, field)?.type === 'json' ? ['invalid_sort'] : [])),
      ];
    default:
      return step satisfies never;
  }
}

function filterFaults(table: ModelTable, filter: ModelFilter | null, can: ModelCapabilities): string[] {
  const hasJson = filteredFields(filter).some((name) => columnOf(table, name)?.type === 'json');
  return (hasJson && !can.filterableJson) || hasLongSearch(filter) ? ['invalid_filter'] : [];
}

/** @param counted columns that begin with 0 where nothing else is said */
function rowFaults(table: ModelTable, row: Cells, counted: readonly string[] = []): string[] {
  const missing = table.columns.filter(
    ({ name, ...column }) =>
      !(name in row || column.nullable || column.autoIncrement || column.default !== null || counted.includes(name)),
  );
  return [...cellFaults(table, row), ...missing.map(() => 'missing_value')];
}

function cellFaults(table: ModelTable, cells: Cells): string[] {
  return Object.entries(cells).flatMap(([name, cell]) => {
    const column = columnOf(table, name);
    if (column === undefined) return ['unknown_column'];
    if (cell.refusal !== undefined) return [cell.refusal];
    return cell.value === null && !column.nullable ? ['invalid_value'] : [];
  });
}

function changeFaults(table: ModelTable, set: Cells, inc: Cells): string[] {
  const names = [...Object.keys(set), ...Object.keys(inc)];
  const faults = cellFaults(table, set);
  if (names.length === 0 || new Set(names).size < names.length) faults.push('invalid_request');
  if (Object.keys(set).some((name) => table.primaryKey.includes(name))) faults.push('invalid_request');
  return [...faults, ...incFaults(table, inc, table.primaryKey)];
}

function incFaults(table: ModelTable, inc: Cells, kept: readonly string[]): string[] {
  return Object.entries(inc).flatMap(([name, amount]) => {
    const column = columnOf(table, name) as ModelColumn;
    if (!NUMERIC.includes(column.type) || kept.includes(name)) return ['invalid_request'];
    return amount.refusal === undefined ? [] : [amount.refusal];
  });
}

/** Faults in the columns that an upsert names as the only ones for an existing row. */
function takenFaults(
  table: ModelTable,
  update: readonly string[],
  { row, keys, inc }: Extract<Step, { op: 'upsert' }>,
): string[] {
  const isWrong = (name: string) =>
    keys.includes(name) || table.primaryKey.includes(name) || !(name in row) || name in inc;
  const isTwice = new Set(update).size < update.length;
  return [
    ...update.flatMap((name) => (columnOf(table, name) === undefined ? ['unknown_column'] : [])),
    ...(isTwice || update.some(isWrong) ? ['invalid_request'] : []),
  ];
}

function keyFaults(table: ModelTable, row: Cells, keys: readonly string[]): string[] {
  const isKey = uniqueSetsOf(table).some((set) => sameNames(set, keys));
  const isMissing = keys.some((name) => (row[name]?.value ?? null) === null && row[name]?.refusal === undefined);
  return [...(isKey ? [] : ['invalid_request']), ...(isMissing ? ['missing_value'] : [])];
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
}
