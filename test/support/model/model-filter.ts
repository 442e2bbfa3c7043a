import { compareToOperand } from './model-values.ts';
import {
  columnOf,
  type ModelColumn,
  type ModelFilter,
  type ModelTable,
  type ModelValue,
  type Operand,
} from './types.ts';

export type ModelRow = Record<string, ModelValue>;

/** SQL's three-valued logic: true, false, or null for unknown. */
export function matches(table: ModelTable, filter: ModelFilter, row: ModelRow): boolean | null {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.members.map((member) => matches(table, member, row)));
    case 'or':
      return opposite(allOf(filter.members.map((member) => opposite(matches(table, member, row)))));
    case 'not':
      return opposite(matches(table, filter.member, row));
    case 'condition':
      return holds(columnOf(table, filter.field) as ModelColumn, filter.op, row[filter.field] ?? null, filter.operands);
    default:
      return filter satisfies never;
  }
}

function holds(column: ModelColumn, op: string, value: ModelValue, operands: readonly Operand[]): boolean | null {
  const [first] = operands;
  if (op === 'isNull') return (value === null) === (first?.value ?? true);
  if (first?.value === null) return (value === null) === (op === 'eq');
  if (value === null) return null;
  if (op === 'startsWith') return String(value).startsWith(String(first?.value));
  if (op === 'contains') return String(value).includes(String(first?.value));
  const compared = operands.map((operand) => compareToOperand(column, value, operand.value));
  if (op === 'in') return compared.includes(0);
  if (op === 'nin') return !compared.includes(0);
  return COMPARISONS[op]?.(compared[0] ?? 0) ?? null;
}

const COMPARISONS: Readonly<Record<string, (compared: number) => boolean>> = {
  eq: (compared) => compared === 0,
  ne: (compared) => compared !== 0,
  gt: (compared) => compared > 0,
  gte: (compared) => compared >= 0,
  lt: (compared) => compared < 0,
  lte: (compared) => compared <= 0,
};

function allOf(members: readonly (boolean | null)[]): boolean | null {
  if (members.includes(false)) return false;
  return members.includes(null) ? null : true;
}

function opposite(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

export function filteredFields(filter: ModelFilter | null): string[] {
  if (filter === null) return [];
  if (filter.kind === 'condition') return [filter.field];
  return filter.kind === 'not' ? filteredFields(filter.member) : filter.members.flatMap(filteredFields);
}

/** Contract section 5. */
const LONGEST_SEARCH = 1000;

/** Whether a `startsWith` or `contains` has more characters than it may have. */
export function hasLongSearch(filter: ModelFilter | null): boolean {
  if (filter === null) return false;
  if (filter.kind === 'not') return hasLongSearch(filter.member);
  if (filter.kind !== 'condition') return filter.members.some(hasLongSearch);
  if (filter.op !== 'startsWith' && filter.op !== 'contains') return false;
  return filter.operands.some(({ value }) => [...String(value)].length > LONGEST_SEARCH);
}

/** JSON text as it is sent. */
export function filterText(filter: ModelFilter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `{"${filter.kind}":[${filter.members.map(filterText)}]}`;
    case 'not':
      return `{"not":${filterText(filter.member)}}`;
    case 'condition': {
      const texts = filter.operands.map((operand) => operand.text);
      const value = filter.op === 'in' || filter.op === 'nin' ? `[${texts}]` : texts[0];
      return `{"field":"${filter.field}","op":"${filter.op}"${value === undefined ? '' : `,"value":${value}`}}`;
    }
    default:
      return filter satisfies never;
  }
}
