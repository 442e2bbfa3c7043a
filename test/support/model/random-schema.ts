import { BOOKKEEPING_NAMES, ODD_NAMES, SYSTEM_COLUMNS } from '../odd-names.ts';
import { randomCell } from './random-cells.ts';
import type { RandomSource } from './random-source.ts';
import { type Cell, COLUMN_TYPES, type ColumnType, type ModelColumn, type ModelTable } from './types.ts';

/** The clock of the sidecars that programs run on: `now` is the same everywhere. */
export const MODEL_NOW_MS = Date.UTC(2024, 1, 29, 12, 0, 0, 7);

const TABLE_NAMES = ['things', 'order', 'group', 'user', 't', ...ODD_NAMES];
/** Lists that the columns of a table are drawn from. */
const COLUMN_NAMES = [
  ['c', 'value', 'n', 'a_b', 'x1', 'select', 'index'],
  SYSTEM_COLUMNS,
  BOOKKEEPING_NAMES,
  ODD_NAMES,
];
const UNINDEXED: readonly ColumnType[] = ['text', 'json', 'bytes'];
const DECIMALS = [
  [34, 10],
  [18, 4],
  [34, 0],
  [34, 34],
  [6, 2],
  [1, 0],
  [19, 1],
] as const;
const LENGTHS = [1, 8, 20, 60];
const MAX_COLUMNS = 7;

export function randomTables(random: RandomSource): ModelTable[] {
  return random.some(TABLE_NAMES, 1, 2).map((name) => randomTable(random, name));
}

function randomTable(random: RandomSource, name: string): ModelTable {
  const names = random.some(random.pick(COLUMN_NAMES), 1, MAX_COLUMNS);
  const columns = names.map((column) => randomColumn(random, column, random.pick(COLUMN_TYPES)));
  const key = randomKey(random, names);
  const table = { name, columns: [...key, ...columns], primaryKey: key.map((column) => column.name) };
  return { ...table, indexes: randomIndexes(random, table.columns) };
}

export function randomColumn(random: RandomSource, name: string, type: ColumnType): ModelColumn {
  const [precision, scale] = random.pick(DECIMALS);
  const column: ModelColumn = {
    ...{ name, type, precision, scale, autoIncrement: false, default: null },
    length: random.pick(LENGTHS),
    nullable: random.chance(60),
    unique: !UNINDEXED.includes(type) && random.chance(20),
  };
  return random.chance(35) ? { ...column, default: randomDefault(random, column) } : column;
}

function randomDefault(random: RandomSource, column: ModelColumn): Cell {
  const now = new Date(MODEL_NOW_MS).toISOString();
  if (column.type === 'datetime' && random.chance(30)) return { text: '"now"', value: now };
  if (column.type === 'date' && random.chance(30)) return { text: '"now"', value: now.slice(0, 10) };
  return randomCell(random, column);
}

/** Generated, of one column, of two, or none. */
function randomKey(random: RandomSource, taken: readonly string[]): ModelColumn[] {
  const free = ['id', 'k', 'desc'].filter((name) => !taken.includes(name));
  const plain = { nullable: false, unique: false, default: null };
  const kind = random.pick(['generated', 'generated', 'one', 'two', 'none']);
  if (kind === 'none') return [];
  if (kind === 'generated') {
    const type = random.pick(['int32', 'int64'] as const);
    return [{ ...randomColumn(random, free[0] as string, type), ...plain, autoIncrement: true }];
  }
  const types = COLUMN_TYPES.filter((type) => !UNINDEXED.includes(type));
  return free
    .slice(0, kind === 'one' ? 1 : 2)
    .map((name) => ({ ...randomColumn(random, name, random.pick(types)), ...plain }));
}

function randomIndexes(random: RandomSource, columns: readonly ModelColumn[]): ModelTable['indexes'] {
  const names = columns.filter((column) => !UNINDEXED.includes(column.type)).map((column) => column.name);
  if (names.length === 0) return [];
  return random.many(0, 2, (i) => ({
    name: `by_${i}`,
    columns: random.some(names, 1, 3),
    unique: random.chance(40),
  }));
}
