import { aggregateOf } from './random-aggregates.ts';
import { batchOf } from './random-batches.ts';
import { randomAmount, randomCell, randomOperand, textOperand, wrongCell } from './random-cells.ts';
import type { RandomSource } from './random-source.ts';
import {
  type Cell,
  type Cells,
  type ModelColumn,
  type ModelFilter,
  type ModelTable,
  type Step,
  uniqueSetsOf,
  type WriteStep,
} from './types.ts';

const NUMERIC = ['int32', 'int64', 'decimal', 'float64'];
const NULL: Cell = { text: 'null', value: null };
const KEYS = ['k', 'K', 'k ', '🚗'];
const MAX_DEPTH = 4;
/** Percentage of rows that hold something wrong. */
const WRONG_ROWS = 3;

const EQUALITY = ['eq', 'ne', 'in', 'nin', 'isNull'];
const ORDER = [...EQUALITY, 'gt', 'gte', 'lt', 'lte'];
const OPS: Readonly<Record<string, readonly string[]>> = {
  bool: EQUALITY,
  bytes: EQUALITY,
  json: ['eq', 'ne', 'isNull'],
  string: [...ORDER, 'startsWith', 'contains'],
  text: [...ORDER, 'startsWith', 'contains'],
};

export function randomStep(random: RandomSource, tables: readonly ModelTable[], earlier: readonly Step[]): Step {
  const again = earlier.filter((step) => 'key' in step && step.key !== null);
  if (again.length > 0 && random.chance(4)) return random.pick(again);
  const table = random.pick(tables);
  const kind = random.int(0, 99);
  if (kind < 57) return writeOf(random, table);
  if (kind < 64) return batchOf(random, { tables, key: keyOf(random), write: (of) => writeOf(random, of) });
  if (kind < 70) return { op: 'count', table: table.name, filter: maybeFilter(random, table, 80) };
  if (kind < 78) return aggregateOf(random, table, maybeFilter(random, table, 50));
  return findOf(random, table);
}

const keyOf = (random: RandomSource): string | null => (random.chance(8) ? random.pick(KEYS) : null);

function writeOf(random: RandomSource, table: ModelTable): WriteStep {
  const kind = random.int(0, 99);
  if (kind < 48) return insertOf(random, table);
  if (kind < 72) return updateOf(random, table);
  if (kind < 91) return upsertOf(random, table);
  return { op: 'delete', table: table.name, filter: randomFilter(random, table), key: keyOf(random) };
}

function insertOf(random: RandomSource, table: ModelTable): WriteStep {
  const max = random.chance(10) ? 30 : 4;
  return {
    op: 'insert',
    table: table.name,
    rows: random.many(1, max, () => rowOf(random, table)),
    key: keyOf(random),
  };
}

function rowOf(random: RandomSource, table: ModelTable): Cells {
  const row: Record<string, Cell> = {};
  for (const column of table.columns) {
    const canBeLeftOut = column.nullable || column.default !== null || column.autoIncrement;
    if (canBeLeftOut && random.chance(column.autoIncrement ? 75 : 25)) continue;
    row[column.name] = cellOf(random, column);
  }
  if (random.chance(WRONG_ROWS)) spoil(random, table, row);
  return row;
}

function cellOf(random: RandomSource, column: ModelColumn): Cell {
  return column.nullable && random.chance(20) ? NULL : randomCell(random, column);
}

function spoil(random: RandomSource, table: ModelTable, row: Record<string, Cell>): void {
  const column = random.pick(table.columns);
  const way = random.pick(['wrong', 'null', 'missing', 'unknown']);
  if (way === 'wrong') row[column.name] = wrongCell(random, column);
  if (way === 'null') row[column.name] = NULL;
  if (way === 'missing') delete row[column.name];
  if (way === 'unknown') row.nobody = { text: '1', value: 1 };
}

function updateOf(random: RandomSource, table: ModelTable): WriteStep {
  const isOdd = random.chance(WRONG_ROWS);
  const free = isOdd ? table.columns : table.columns.filter((column) => !table.primaryKey.includes(column.name));
  const chosen = random.some(free, 1, 3);
  const set: Record<string, Cell> = {};
  const inc: Record<string, Cell> = {};
  for (const column of chosen) {
    if (NUMERIC.includes(column.type) && random.chance(60)) inc[column.name] = randomAmount(random, column);
    else set[column.name] = isOdd && random.chance(50) ? wrongCell(random, column) : cellOf(random, column);
  }
  return { op: 'update', table: table.name, filter: maybeFilter(random, table, 85), set, inc, key: keyOf(random) };
}

function upsertOf(random: RandomSource, table: ModelTable): WriteStep {
  const sets = uniqueSetsOf(table);
  const isOdd = sets.length === 0 || random.chance(WRONG_ROWS);
  const names = table.columns.map((column) => column.name);
  const keys = isOdd ? random.some(names, 1, 2) : random.some(random.pick(sets), 9, 9);
  const row: Record<string, Cell> = { ...rowOf(random, table) };
  for (const column of table.columns) {
    if (keys.includes(column.name) && !isOdd) row[column.name] = randomCell(random, column);
  }
  const change = random.chance(50) ? { update: null, inc: {} } : upsertChangeOf(random, table, row, keys);
  return { op: 'upsert', table: table.name, row, keys, ...change, key: keyOf(random) };
}

function upsertChangeOf(random: RandomSource, table: ModelTable, row: Record<string, Cell>, keys: readonly string[]) {
  const isOdd = random.chance(WRONG_ROWS);
  const isFree = (column: ModelColumn) => !keys.includes(column.name) && !table.primaryKey.includes(column.name);
  const free = isOdd ? table.columns : table.columns.filter(isFree);
  const counted = free.filter((column) => isOdd || NUMERIC.includes(column.type));
  const inc: Record<string, Cell> = {};
  if (random.chance(70)) {
    for (const column of random.some(counted, 0, 2)) {
      inc[column.name] = NUMERIC.includes(column.type) ? randomAmount(random, column) : NULL;
      if (random.chance(50)) delete row[column.name];
    }
  }
  const settable = free.map((column) => column.name).filter((name) => isOdd || (name in row && !(name in inc)));
  return { inc, update: random.chance(60) ? random.some(settable, 0, 3) : null };
}

function findOf(random: RandomSource, table: ModelTable): Step {
  const names = table.columns.map((column) => column.name);
  const sortable = table.columns.filter((column) => column.type !== 'json').map((column) => column.name);
  return {
    op: 'find',
    table: table.name,
    filter: maybeFilter(random, table, 70),
    fields: random.chance(30) ? random.some(names, 1, names.length) : null,
    sort: random.chance(50)
      ? random.some(sortable, 0, 3).map((field) => ({ field, dir: random.pick(['asc', 'desc'] as const) }))
      : [],
    limit: random.chance(30) ? random.pick([0, 1, 2, 5]) : null,
    offset: random.chance(20) ? random.pick([1, 2, 7]) : 0,
  };
}

function maybeFilter(random: RandomSource, table: ModelTable, percent: number): ModelFilter | null {
  return random.chance(percent) ? randomFilter(random, table) : null;
}

function randomFilter(random: RandomSource, table: ModelTable, depth = 1): ModelFilter {
  if (depth >= MAX_DEPTH || random.chance(60)) return conditionOf(random, table);
  const kind = random.pick(['and', 'or', 'not'] as const);
  if (kind === 'not') return { kind, member: randomFilter(random, table, depth + 1) };
  return { kind, members: random.many(1, 3, () => randomFilter(random, table, depth + 1)) };
}

function conditionOf(random: RandomSource, table: ModelTable): ModelFilter {
  const column = random.pick(table.columns);
  const op = random.pick(OPS[column.type] ?? ORDER);
  return { kind: 'condition', field: column.name, op, operands: operandsOf(random, column, op) };
}

function operandsOf(random: RandomSource, column: ModelColumn, op: string) {
  if (op === 'isNull') return random.chance(30) ? [] : [booleanOperand(random.chance(50))];
  if (op === 'in' || op === 'nin') {
    return random.many(1, random.chance(5) ? 60 : 4, () => randomOperand(random, column));
  }
  if (op === 'startsWith' || op === 'contains') {
    const operand = randomOperand(random, column);
    return [operand.value === '' ? textOperand('a') : operand];
  }
  if ((op === 'eq' || op === 'ne') && random.chance(10)) return [{ text: 'null', value: null }];
  return [randomOperand(random, column)];
}

const booleanOperand = (value: boolean) => ({ text: String(value), value });
