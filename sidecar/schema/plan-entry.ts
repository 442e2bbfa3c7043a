import type { Column, Index, Table } from '#protocol/schema.ts';
import { type ColumnChange, compareColumns, isDerivedAlike } from '../engine/model/column-change.ts';
import type { PlanStep } from '../engine/schema-calls.ts';

/** A step as the caller of a sync reads it (contract section 6). */
export interface PlanEntry {
  readonly kind: PlanStep['kind'];
  readonly table: string;
  readonly column?: string;
  readonly newName?: string;
  readonly index?: string;
  readonly note: string;
  readonly destructive: boolean;
}

/** A renaming entry has the old name in `table` or `column`; everything else is by new names. */
export function entryOf(step: PlanStep): PlanEntry {
  const { kind } = step;
  switch (step.kind) {
    case 'createTable':
      return { kind, table: step.table.name, note: createTableNote(step.table), destructive: false };
    case 'renameTable':
      return { kind, table: step.from, newName: step.to, note: `renamed to ${step.to}; rows stay`, destructive: false };
    case 'dropTable':
    case 'quarantineTable':
      return { kind, table: step.table.name, note: removalNote(kind === 'dropTable'), destructive: true };
    case 'renameColumn': {
      const note = `renamed to ${step.to}; values stay`;
      return { kind, table: step.table, column: step.from, newName: step.to, note, destructive: false };
    }
    case 'addColumn':
      return { kind, table: step.table, column: step.column.name, note: addNote(step.column), destructive: false };
    case 'alterColumn': {
      const { narrows, narrowsValues } = compareColumns(step.from, step.to);
      const destructive = narrows || narrowsValues;
      return { kind, table: step.table, column: step.to.name, note: alterNote(step.from, step.to), destructive };
    }
    case 'dropColumn':
    case 'quarantineColumn': {
      const { name, derived } = step.column;
      const note = derived === undefined ? removalNote(kind === 'dropColumn') : derivedRemovalNote(derived.from);
      return { kind, table: step.table, column: name, note, destructive: true };
    }
    case 'changePrimaryKey':
      return { kind, table: step.table, note: keyNote(step.from, step.to), destructive: false };
    case 'addIndex':
    case 'dropIndex': {
      const note = indexNote(step.index, kind === 'addIndex');
      return { kind, table: step.table, index: step.index.name, note, destructive: false };
    }
    default:
      return step satisfies never;
  }
}

function createTableNote(table: Table): string {
  const key = table.primaryKey === undefined ? 'no primary key' : `primary key ${table.primaryKey.join(', ')}`;
  const columns = table.columns.length === 1 ? '1 column' : `${table.columns.length} columns`;
  return `new table: ${columns}, ${key}`;
}

function removalNote(isDropped: boolean): string {
  return isDropped
    ? 'no longer declared: deleted with its data'
    : 'no longer declared: put into quarantine with its data, from where the quarantine command restores it';
}

function derivedRemovalNote(from: string): string {
  return `no longer declared: deleted; ${from}, from which it was derived, is not touched by that`;
}

function addNote(column: Column): string {
  if (column.derived !== undefined) return `new derived column: computed from ${column.derived.from} in every row`;
  if (column.autoIncrement) return 'new column: rows that exist are numbered in their order';
  if (column.default === 'now' && (column.type === 'datetime' || column.type === 'date')) {
    return 'new column: rows that exist get the time of this sync';
  }
  if (column.default === 'random' && column.type === 'uuid')
    return 'new column: rows that exist get a random value each';
  if (column.default !== undefined) return 'new column: rows that exist get its default';
  if (column.nullable) return 'new column: rows that exist get NULL';
  return 'new required column without default: fits only a table without rows';
}

function alterNote(from: Column, to: Column): string {
  const change = compareColumns(from, to);
  const notes: string[] = [];
  if (to.derived !== undefined && !isDerivedAlike(from, to)) {
    notes.push(`computed anew from ${to.derived.from} in every row`);
  } else if (typeName(from) !== typeName(to)) {
    const how = change.narrows ? 'narrower, every row must fit' : 'every row fits';
    notes.push(`${typeName(from)} becomes ${typeName(to)} (${how})`);
  }
  if (change.becomesRequired) notes.push('becomes required: no row may be NULL');
  if (!from.nullable && to.nullable) notes.push('may be NULL from now on');
  if (change.becomesUnique) notes.push('becomes unique: no value may stand twice');
  if (from.unique && !to.unique) notes.push('is no longer unique');
  if (JSON.stringify(from.default) !== JSON.stringify(to.default)) {
    notes.push(to.default === undefined ? 'has no default any more' : 'has another default for new rows');
  }
  if (from.derived !== undefined && to.derived === undefined) {
    notes.push(`no longer derived from ${from.derived.from}: keeps its values, and may be written`);
  }
  if (from.onUpdate !== to.onUpdate) {
    notes.push(to.onUpdate === undefined ? 'is no longer set at updates' : 'is set at every update from now on');
  }
  if (to.derived === undefined && from.oneOf?.join('\0') !== to.oneOf?.join('\0')) notes.push(oneOfNote(change, to));
  return notes.join('; ');
}

function oneOfNote({ narrowsValues }: ColumnChange, to: Column): string {
  if (to.oneOf === undefined) return 'may hold any text from now on';
  return narrowsValues ? 'holds fewer values than before: every row must fit' : 'holds other values as well';
}

/** `string(60)`, `decimal(18,4)`, `int32`. */
export function typeName(column: Column): string {
  if (column.type === 'string') return `string(${column.length})`;
  if (column.type === 'decimal') return `decimal(${column.precision},${column.scale})`;
  return column.type;
}

function keyNote(from: readonly string[] | null, to: readonly string[] | null): string {
  if (to === null) return 'no primary key any more';
  const key = `primary key becomes ${to.join(', ')}: no row may repeat another's`;
  return from === null ? key : `${key}; it was ${from.join(', ')}`;
}

function indexNote(index: Index, isAdded: boolean): string {
  const what = `${index.unique ? 'unique index' : 'index'} over ${index.columns.join(', ')}`;
  if (!isAdded) return `${what} is removed; rows stay`;
  return index.unique ? `new ${what}: no row may repeat another's values` : `new ${what}`;
}
