import { UNKNOWN_ID, Undecided } from './generator-state.ts';
import type { ModelRow } from './model-filter.ts';
import { rangeOf } from './model-values.ts';
import {
  type BatchMember,
  type Cell,
  type Cells,
  columnOf,
  type ModelColumn,
  type ModelFilter,
  type ModelReference,
  type ModelTable,
  type ModelValue,
  type Operand,
  type WriteStep,
} from './types.ts';

const INTEGERS = ['int32', 'int64'];

/** Whether ids of the one column are values for the other that random programs make. */
export function takesIdsOf(source: ModelColumn, target: ModelColumn): boolean {
  if (target.autoIncrement) return false;
  // A decimal below 1 holds no id that is generated, which is seen before anything is done.
  if (INTEGERS.includes(source.type)) {
    return INTEGERS.includes(target.type) || (target.type === 'decimal' && target.precision > target.scale);
  }
  if (source.type === 'string') return target.type === 'string' || target.type === 'text';
  return source.type === target.type && ['decimal', 'uuid', 'date', 'datetime'].includes(source.type);
}

/** The column whose values are a table's ids; null if the key is not one column. */
export function idColumn(table: ModelTable): ModelColumn | null {
  const [name, ...others] = table.primaryKey;
  return name === undefined || others.length > 0 ? null : (columnOf(table, name) ?? null);
}

export const referenceText = ({ operation, row }: ModelReference): string => `{"$result":[${operation},${row}]}`;

/** Whether such a row is inserted before the operation. */
export function isGoodReference(
  { operation, row }: ModelReference,
  at: number,
  operations: readonly BatchMember[],
  tableOf: (name: string) => ModelTable,
): boolean {
  const write = operations[operation]?.write;
  if (operation >= at || write?.op !== 'insert') return false;
  return write.rows[row] !== undefined && idColumn(tableOf(write.table)) !== null;
}

/** The id, with the column that it is of. */
export interface KnownId {
  readonly column: ModelColumn;
  readonly value: ModelValue;
}

export function idOf(table: ModelTable, row: ModelRow): KnownId {
  const column = idColumn(table) as ModelColumn;
  const value = row[column.name] ?? null;
  if (value === UNKNOWN_ID) throw new Undecided('an id is named that only the database knows');
  return { column, value };
}

/** Null if the id is not known yet. */
type IdAt = (reference: ModelReference) => KnownId | null;

/** The operation with the ids that are known in the place of references. */
export function withIds(write: WriteStep, table: ModelTable, idAt: IdAt): WriteStep {
  const cell = (name: string, each: Cell): Cell => {
    const column = columnOf(table, name);
    const id = each.result === undefined ? null : idAt(each.result);
    return id === null || column === undefined ? each : cellOf(column, id);
  };
  const cells = (row: Cells): Cells =>
    Object.fromEntries(Object.entries(row).map(([name, each]) => [name, cell(name, each)]));
  const filter = (each: ModelFilter): ModelFilter => {
    if (each.kind === 'not') return { ...each, member: filter(each.member) };
    if (each.kind !== 'condition') return { ...each, members: each.members.map(filter) };
    return { ...each, operands: each.operands.map((operand) => operandOf(operand, idAt)) };
  };
  switch (write.op) {
    case 'insert':
      return { ...write, rows: write.rows.map(cells) };
    case 'upsert':
      return { ...write, row: cells(write.row) };
    case 'update':
      return { ...write, set: cells(write.set), filter: write.filter && filter(write.filter) };
    case 'delete':
      return { ...write, filter: write.filter && filter(write.filter) };
    default:
      return write satisfies never;
  }
}

function cellOf(column: ModelColumn, { column: source, value }: KnownId): Cell {
  const text = '';
  if (typeof value !== 'bigint') {
    const isTooLong = column.type === 'string' && [...String(value)].length > column.length;
    return isTooLong ? { text, value: null, refusal: 'value_too_long' } : { text, value };
  }
  const from = source.type === 'decimal' ? source.scale : 0;
  const to = column.type === 'decimal' ? column.scale : 0;
  const scaled = value * 10n ** BigInt(to);
  const one = 10n ** BigInt(from);
  const { min, max } = rangeOf(column);
  const fits = scaled % one === 0n && scaled / one >= min && scaled / one <= max;
  return fits ? { text, value: scaled / one } : { text, value: null, refusal: 'invalid_value' };
}

function operandOf(operand: Operand, idAt: IdAt): Operand {
  const id = operand.result === undefined ? null : idAt(operand.result);
  if (id === null) return operand;
  const { column, value } = id;
  if (typeof value !== 'bigint') return { text: '', value };
  return { text: '', value: { digits: value, scale: column.type === 'decimal' ? column.scale : 0 } };
}

/** A reference, and the column for which it stands. */
export interface ReferencePlace {
  readonly column: string;
  readonly result: ModelReference;
}

export function referencesIn(write: WriteStep): ReferencePlace[] {
  const found: ReferencePlace[] = [];
  const note = (column: string, { result }: Cell | Operand) => {
    if (result !== undefined) found.push({ column, result });
  };
  const inCells = (cells: Cells) => {
    for (const [name, cell] of Object.entries(cells)) note(name, cell);
  };
  const inFilter = (filter: ModelFilter | null): void => {
    if (filter === null) return;
    if (filter.kind === 'not') inFilter(filter.member);
    else if (filter.kind !== 'condition') filter.members.forEach(inFilter);
    else for (const operand of filter.operands) note(filter.field, operand);
  };
  if (write.op === 'insert') write.rows.forEach(inCells);
  if (write.op === 'upsert') inCells(write.row);
  if (write.op === 'update') inCells(write.set);
  if ('filter' in write) inFilter(write.filter);
  return found;
}

/** Random programs make no others, but what is left of them may. */
export function isSuited({ column }: ReferencePlace, table: ModelTable, source: ModelTable): boolean {
  const [target, id] = [columnOf(table, column), idColumn(source)];
  return target !== undefined && id !== null && takesIdsOf(id, target);
}
