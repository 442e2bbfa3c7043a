import type { ModelRow } from './model-filter.ts';
import { compareValues, renderValue } from './model-values.ts';
import {
  columnOf,
  type ModelAggregate,
  type ModelColumn,
  type ModelSort,
  type ModelTable,
  type ModelValue,
  type Step,
} from './types.ts';

type AggregateStep = Extract<Step, { op: 'aggregate' }>;

const UNGROUPED = ['text', 'json', 'bytes'];
const NUMERIC = ['int32', 'int64', 'decimal', 'float64'];

/** JSON texts of all the groups that the rows make, in their order. */
export function groupsOf(table: ModelTable, step: AggregateStep, rows: readonly ModelRow[]): string[] {
  const { groupBy, values, sort } = step;
  const members = new Map<string, ModelRow[]>();
  const keyOf = (row: ModelRow) => groupBy.map((name) => cellText(table, row, name)).join();
  for (const row of rows) members.set(keyOf(row), [...(members.get(keyOf(row)) ?? []), row]);
  if (groupBy.length === 0 && rows.length === 0) members.set('', []);
  const columns = [...groupBy.map((name) => named(table, name)), ...values.map((value) => columnFor(table, value))];
  const groups = [...members.values()].map((group): ModelValue[] => [
    ...groupBy.map((name) => group[0]?.[name] ?? null),
    ...values.map((value) => aggregated(table, value, group)),
  ]);
  const names = [...groupBy, ...values.map(({ as }) => as)];
  return inOrder(groups, names, columns, [...sort, ...groupBy.map((field) => ({ field, dir: 'asc' as const }))]).map(
    (group) => `{${names.map((name, i) => `"${name}":${renderValue(columns[i] as ModelColumn, group[i] ?? null)}`)}}`,
  );
}

function inOrder(
  groups: readonly ModelValue[][],
  names: readonly string[],
  columns: readonly ModelColumn[],
  sort: readonly ModelSort[],
): ModelValue[][] {
  return groups.toSorted((a, b) => {
    for (const { field, dir } of sort) {
      const at = names.indexOf(field);
      const compared = compareValues((columns[at] as ModelColumn).type, a[at] ?? null, b[at] ?? null);
      if (compared !== 0) return dir === 'asc' ? compared : -compared;
    }
    return 0;
  });
}

const named = (table: ModelTable, name: string) => columnOf(table, name) as ModelColumn;
const cellText = (table: ModelTable, row: ModelRow, name: string) => renderValue(named(table, name), row[name] ?? null);

/** Column type of an aggregate: counts as integers, sums as numbers of any size. */
function columnFor(table: ModelTable, { fn, field }: ModelAggregate): ModelColumn {
  const own = columnOf(table, field ?? '') ?? (table.columns[0] as ModelColumn);
  return fn === 'count' || fn === 'countDistinct' ? { ...own, type: 'int64' } : own;
}

function aggregated(table: ModelTable, { fn, field }: ModelAggregate, group: readonly ModelRow[]): ModelValue {
  if (field === null) return BigInt(group.length);
  const values = group.map((row) => row[field] ?? null).filter((value) => value !== null);
  if (fn === 'count') return BigInt(values.length);
  if (fn === 'countDistinct') return BigInt(new Set(values).size);
  if (values.length === 0) return null;
  if (fn === 'sum') return values.reduce((sum: bigint, value) => sum + BigInt(value as bigint), 0n);
  const sorted = values.toSorted((a, b) => compareValues(named(table, field).type, a, b));
  return (fn === 'min' ? sorted[0] : sorted.at(-1)) ?? null;
}

export function aggregateFaults(table: ModelTable, { groupBy, values, sort }: AggregateStep): string[] {
  const names = [...groupBy, ...values.map(({ as }) => as)];
  const isWrong = ({ fn, field }: ModelAggregate) => {
    if (field === null || fn === 'count') return fn !== 'count';
    const { type } = named(table, field);
    return fn === 'sum' ? !NUMERIC.includes(type) : UNGROUPED.includes(type);
  };
  const isRefused =
    names.length === 0 ||
    new Set(names).size < names.length ||
    groupBy.some((name) => UNGROUPED.includes(named(table, name).type)) ||
    values.some(isWrong);
  const unsorted = sort.filter(({ field }) => !names.includes(field));
  return [
    ...(isRefused ? ['invalid_request'] : []),
    ...unsorted.map(({ field }) => (columnOf(table, field) === undefined ? 'unknown_column' : 'invalid_sort')),
  ];
}
