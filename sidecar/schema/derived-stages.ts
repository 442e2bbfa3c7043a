import { type Column, findTable, type Renames, type Schema, type Table } from '#protocol/schema.ts';
import { isDerivedAlike } from '../engine/model/column-change.ts';
import { followed } from './plan.ts';

/** The way of a schema whose rows have derived values to get, in stages that are applied one after another. */
export interface DerivedStages {
  /** The declared schema without what is to be filled: columns of another derivation are gone. */
  readonly before: Schema;
  /** With the columns, which every write keeps from here on and nobody reads; `unique` and their indexes come last. */
  readonly filling: Schema;
  /** Nothing is new: an earlier run has begun to fill the same columns. */
  readonly isResumed: boolean;
}

/** Null if no row has to be filled. `renames` lead from the stored schema to the declared one. Pure. */
export function derivedStages(stored: Schema | null, declared: Schema, renames: Renames): DerivedStages | null {
  const before: Table[] = [];
  const filling: Table[] = [];
  let isNew = false;
  let isFilling = false;
  for (const table of declared.tables) {
    const from = storedTable(stored, table, renames);
    const toFill = from === null ? [] : columnsToFill(from, table, renames);
    isFilling ||= toFill.length > 0;
    isNew ||= toFill.some(({ isBegun }) => !isBegun);
    const begun = toFill.filter(({ isBegun }) => isBegun).map(({ name }) => name);
    const all = toFill.map(({ name }) => name);
    before.push(withFilling(table, all, begun));
    filling.push(withFilling(table, all, all));
  }
  return isFilling
    ? { before: { ...declared, tables: before }, filling: { ...declared, tables: filling }, isResumed: !isNew }
    : null;
}

function storedTable(stored: Schema | null, { name }: Table, renames: Renames): Table | null {
  if (stored === null) return null;
  const oldName = renames.tables.get(name);
  return findTable(stored, name) ?? (oldName === undefined ? null : findTable(stored, oldName));
}

interface ColumnToFill {
  readonly name: string;
  readonly isBegun: boolean;
}

function columnsToFill(from: Table, to: Table, renames: Renames): ColumnToFill[] {
  const oldNames = renames.columns.get(to.name);
  const storedColumn = (name: string): Column | undefined =>
    from.columns.find((column) => column.name === name) ??
    from.columns.find((column) => column.name === oldNames?.get(name));
  const newNames = new Map<string, string>();
  for (const { name } of to.columns) {
    const stored = storedColumn(name);
    if (stored !== undefined) newNames.set(stored.name, name);
  }
  return to.columns.flatMap((column) => {
    if (column.derived === undefined) return [];
    const stored = storedColumn(column.name);
    const isAlike = stored !== undefined && isDerivedAlike(followed(stored, newNames), column);
    if (isAlike && stored.filling === undefined) return [];
    return [{ name: column.name, isBegun: isAlike }];
  });
}

/** Removes the columns of `names` except those of `kept`, which become columns that are being filled. */
function withFilling(table: Table, names: readonly string[], kept: readonly string[]): Table {
  if (names.length === 0) return table;
  return {
    ...table,
    columns: table.columns
      .filter(({ name }) => !names.includes(name) || kept.includes(name))
      .map((column) => (kept.includes(column.name) ? { ...column, unique: false, filling: true as const } : column)),
    indexes: table.indexes.filter((index) => !index.columns.some((name) => names.includes(name))),
  };
}

/** Once every row has its values. What others had declared, and an earlier run has begun to fill, is filled as well. */
export function withoutFilling(schema: Schema): Schema {
  const finished = ({ filling: _, ...column }: Column): Column => column;
  return { ...schema, tables: schema.tables.map((table) => ({ ...table, columns: table.columns.map(finished) })) };
}
