import fc, { type GeneratorValue } from 'fast-check';
import { drawnNames } from './odd-names.ts';

/**
 * Meaning of a schema change for rows, once more and in plain TypeScript, from contract section 6 alone: random schemas,
 * random changes of them, and what a sync must answer. Imports nothing of what it judges.
 */

export interface ModelColumn {
  name: string;
  type: string;
  length?: number;
  precision?: number;
  scale?: number;
  nullable?: boolean;
  unique?: boolean;
  autoIncrement?: boolean;
  default?: unknown;
  renamedFrom?: string;
}

export interface ModelTable {
  name: string;
  primaryKey?: string[];
  columns: ModelColumn[];
  indexes: { name: string; columns: string[]; unique: boolean }[];
  renamedFrom?: string;
}

export type ModelRow = Record<string, unknown>;
export type ModelRows = ReadonlyMap<string, readonly ModelRow[]>;

const UUIDS = ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
const NUMBERS = [0, 1, -1, 5, 99, 1000, 0.5, 12.25, 99.99, -1000.125, 123456.7, 2147483647, -2147483648, 2147483648];
const TEXTS = ['', 'a', 'A', 'é', 'a ', '🎉🎉', 'abcd', 'abcdefgh', 'x'.repeat(300)];
const POOLS: Record<string, unknown[]> = {
  int32: NUMBERS,
  int64: [...NUMBERS, Number.MAX_SAFE_INTEGER],
  decimal: NUMBERS,
  float64: [0, 1.5, -2.25],
  bool: [true, false],
  string: TEXTS,
  text: TEXTS,
  json: [1, 'x', { a: [null] }],
  datetime: ['2024-02-29T12:00:00.000Z', '1999-12-31T23:59:59.999Z'],
  date: ['2024-02-29', '1999-12-31'],
  uuid: UUIDS,
  bytes: ['', 'AAE='],
};
const TYPES = Object.keys(POOLS);
const NUMERIC = ['int32', 'int64', 'decimal'];
const TEXTUAL = ['string', 'text'];
const UNINDEXED = ['text', 'json', 'bytes'];

export function fits(value: unknown, column: ModelColumn): boolean {
  if (value === null) return column.nullable === true;
  switch (column.type) {
    case 'int32':
      return Number.isInteger(value) && Math.abs(Number(value) + 0.5) < 2 ** 31;
    case 'int64':
      return Number.isInteger(value);
    case 'decimal': {
      const [whole = '', fraction = ''] = String(value).replace('-', '').split('.');
      const { precision = 18, scale = 4 } = column;
      return fraction.length <= scale && whole.replace(/^0+/, '').length <= precision - scale;
    }
    case 'string':
      return [...String(value)].length <= (column.length ?? 255);
    default:
      return true;
  }
}

export class Random {
  readonly #g: GeneratorValue;
  /** Names of columns; names of key columns begin with `k`, and no others do. */
  readonly #names: readonly string[];
  /** Names of tables. */
  readonly tables: readonly string[];

  constructor(g: GeneratorValue) {
    this.#g = g;
    this.#names = drawnNames(this, 6);
    this.tables = drawnNames(this, 3);
  }

  #named(...places: readonly number[]): string[] {
    return places.map((place) => this.#names[place] as string);
  }

  chance(percent: number): boolean {
    return this.#g(fc.nat, { max: 99 }) < percent;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.#g(fc.nat, { max: items.length - 1 })] as T;
  }

  value(column: ModelColumn): unknown {
    return this.pick((POOLS[column.type] ?? []).filter((value) => fits(value, column)));
  }

  column(name: string, type = this.pick(TYPES)): ModelColumn {
    const column: ModelColumn = { name, type };
    if (type === 'string') column.length = this.pick([1, 4, 300]);
    if (type === 'decimal')
      [column.precision, column.scale] = this.pick([
        [6, 2],
        [18, 4],
        [34, 10],
        [5, 0],
      ] as const);
    if (this.chance(40)) column.nullable = true;
    if (!UNINDEXED.includes(type) && this.chance(20)) column.unique = true;
    if (this.chance(40)) column.default = this.value(column);
    return column;
  }

  table(name: string): ModelTable {
    const columns = this.#named(0, 1, 2)
      .slice(0, 1 + this.pick([0, 1, 2]))
      .map((column) => this.column(column));
    const table: ModelTable = { name, columns, indexes: [] };
    this.#rekey(table);
    this.#reindex(table);
    return table;
  }

  /** A row for a table, every column given but for generated ones. */
  row(table: ModelTable): ModelRow {
    const row: ModelRow = {};
    for (const column of table.columns) {
      if (column.autoIncrement) continue;
      row[column.name] = column.nullable && this.chance(30) ? null : this.value(column);
    }
    return row;
  }

  /** Another schema, most of it made from the first one. */
  changed(tables: readonly ModelTable[]): ModelTable[] {
    const result: ModelTable[] = [];
    for (const table of tables) {
      if (this.chance(10)) continue;
      const changed = this.#changedTable(table);
      if (this.chance(20)) {
        changed.name = `r${result.length}${table.name}`.slice(0, 30);
        changed.renamedFrom = table.name;
      }
      result.push(changed);
    }
    const name = this.pick(this.tables);
    const isFree = tables.every((table) => table.name !== name) && result.every((table) => table.name !== name);
    if (isFree && this.chance(30)) result.push(this.table(name));
    return result;
  }

  #changedTable(table: ModelTable): ModelTable {
    const columns: ModelColumn[] = [];
    const newNames = new Map<string, string>();
    for (const { renamedFrom: _, ...column } of table.columns) {
      const isKey = column.name.startsWith('k');
      if (!isKey && this.chance(15)) continue;
      const changed: ModelColumn = this.chance(50) ? { ...column } : this.#changedColumn(column, isKey);
      if (!isKey && this.chance(15)) {
        changed.renamedFrom = column.name;
        changed.name = this.pick(this.#named(0, 1, 2, 4, 5));
        if (changed.name === column.name) delete changed.renamedFrom;
      }
      newNames.set(column.name, changed.name);
      columns.push(changed);
    }
    if (columns.length === 0 || this.chance(30)) columns.push(this.column(this.pick(this.#named(0, 3))));
    const unique = uniqueNames(columns);
    const result: ModelTable = { name: table.name, columns: unique, indexes: [] };
    if (table.primaryKey !== undefined) result.primaryKey = table.primaryKey.map((name) => newNames.get(name) ?? name);
    if (this.chance(15)) this.#rekey(result);
    if (this.chance(40)) this.#reindex(result);
    return result;
  }

  #changedColumn(column: ModelColumn, isKey: boolean): ModelColumn {
    const group = [NUMERIC, TEXTUAL].find((types) => types.includes(column.type)) ?? [column.type];
    const types = isKey || column.unique ? group.filter((type) => type !== 'text') : group;
    const changed = this.column(column.name, this.chance(8) ? this.pick(TYPES) : this.pick(types));
    if (!isKey) return changed;
    const { nullable: _, unique: __, default: ___, ...key } = changed;
    if (UNINDEXED.includes(key.type) || column.autoIncrement) return column;
    return key;
  }

  /** Key columns are named k…, and leave with their key. */
  #rekey(table: ModelTable): void {
    const others = table.columns.filter((column) => !column.name.startsWith('k'));
    const kinds: ModelColumn[][] = [
      [],
      [{ name: 'k', type: 'int64', autoIncrement: true }],
      [{ name: 'k1', type: 'int32', default: 7 }],
      [{ name: 'k2', type: 'string', length: 8 }],
      [
        { name: 'k1', type: 'int32', default: 7 },
        { name: 'k2', type: 'string', length: 8, default: '' },
      ],
    ];
    const key = this.pick(kinds);
    table.columns = [...key, ...others];
    if (table.columns.length === 0) table.columns = this.#named(0).map((name) => this.column(name));
    delete table.primaryKey;
    if (key.length > 0) table.primaryKey = key.map((column) => column.name);
    table.indexes = [];
  }

  #reindex(table: ModelTable): void {
    const columns = table.columns.filter((column) => !UNINDEXED.includes(column.type) && column.type !== 'string');
    table.indexes = ['i1', 'i2'].flatMap((name) => {
      const chosen = columns.filter(() => this.chance(50)).map((column) => column.name);
      return chosen.length > 0 ? [{ name, columns: chosen, unique: this.chance(40) }] : [];
    });
  }
}

function uniqueNames(columns: readonly ModelColumn[]): ModelColumn[] {
  const declared = new Set(columns.map((column) => column.name));
  const names = new Set<string>();
  return columns.flatMap((column) => {
    if (names.has(column.name)) return [];
    names.add(column.name);
    const { renamedFrom, ...rest } = column;
    return [renamedFrom !== undefined && !declared.has(renamedFrom) ? column : rest];
  });
}

export interface Expected {
  code: 'unsupported_change' | 'data_does_not_fit' | '';
  rows: Map<string, ModelRow[]>;
}

/** Right answer to a sync of `to` if `from` is stored with `rows`. New generated ids are left out of rows. */
export function expectedOf(from: readonly ModelTable[], rows: ModelRows, to: readonly ModelTable[]): Expected {
  const outcomes = to.map((table) => {
    const same = from.find((candidate) => candidate.name === table.name);
    const old = from.find((candidate) => candidate.name === table.renamedFrom);
    if (same !== undefined && old !== undefined) return { isUnsupported: true, isUnfit: false, rows: [] };
    const source = same ?? old;
    return source === undefined
      ? { isUnsupported: false, isUnfit: false, rows: [] }
      : changedRows(source, rows.get(source.name) ?? [], table);
  });
  return {
    code: outcomes.some((outcome) => outcome.isUnsupported)
      ? 'unsupported_change'
      : outcomes.some((outcome) => outcome.isUnfit)
        ? 'data_does_not_fit'
        : '',
    rows: new Map(to.map((table, i) => [table.name, outcomes[i]?.rows ?? []])),
  };
}

function changedRows(from: ModelTable, rows: readonly ModelRow[], to: ModelTable) {
  let isUnsupported = false;
  let isUnfit = false;
  const changed: ModelRow[] = rows.map(() => ({}));
  for (const column of to.columns) {
    const same = from.columns.find((candidate) => candidate.name === column.name);
    const old = from.columns.find((candidate) => candidate.name === column.renamedFrom);
    const source = same ?? old;
    isUnsupported ||= same !== undefined && old !== undefined;
    if (source !== undefined) {
      isUnsupported ||= !canBecome(source, column);
      isUnfit ||= rows.some((row) => !fits(row[source.name], column));
      for (const [i, row] of rows.entries()) (changed[i] as ModelRow)[column.name] = row[source.name];
    } else if (!column.autoIncrement) {
      isUnfit ||= rows.length > 0 && !column.nullable && column.default === undefined;
      for (const row of changed) row[column.name] = column.default ?? null;
    }
  }
  for (const set of uniqueSetsOf(to)) isUnfit ||= hasRepeated(changed, set);
  return { isUnsupported, isUnfit, rows: changed };
}

function canBecome(from: ModelColumn, to: ModelColumn): boolean {
  if ((from.autoIncrement ?? false) !== (to.autoIncrement ?? false)) return false;
  return (
    from.type === to.type || [NUMERIC, TEXTUAL].some((types) => types.includes(from.type) && types.includes(to.type))
  );
}

function uniqueSetsOf(table: ModelTable): string[][] {
  return [
    table.primaryKey ?? [],
    ...table.columns.filter((column) => column.unique).map((column) => [column.name]),
    ...table.indexes.filter((index) => index.unique).map((index) => index.columns),
  ].filter((set) => set.length > 0);
}

/** NULL equals nothing, nor does an id that is yet to be generated. */
function hasRepeated(rows: readonly ModelRow[], columns: readonly string[]): boolean {
  const values = rows.map((row) => columns.map((name) => row[name] ?? null)).filter((set) => !set.includes(null));
  return new Set(values.map((set) => JSON.stringify(set))).size < values.length;
}
