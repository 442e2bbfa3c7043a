import type { Column } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import { compareColumns, fillOf } from './column-change.ts';
import { uniqueSets } from './physical-indexes.ts';
import type { TableTransition } from './table-transition.ts';

/** Rows to count in the stored table before it changes; each of them is a fault. */
export type ColumnCheck =
  | { readonly kind: 'null'; readonly from: Column; readonly fault: (rows: number) => string }
  /** Rows whose value does not fit `to`; both are exact numbers, or both are text. */
  | { readonly kind: 'misfit'; readonly from: Column; readonly to: Column; readonly fault: (rows: number) => string }
  /** Rows with a value that is not in the list. */
  | {
      readonly kind: 'unlisted';
      readonly from: Column;
      readonly values: readonly string[];
      readonly fault: (rows: number) => string;
    }
  /** Every row. */
  | { readonly kind: 'row'; readonly fault: (rows: number) => string };

/** Stored columns whose values must be unique if none of them is NULL; without columns, two rows are a fault. */
export interface RepeatCheck {
  readonly columns: readonly string[];
  readonly fault: string;
}

/**
 * Checks whether existing rows fit the declared table (contract section 6). A table without rows needs no check. Check
 * for repetitions only if every value fits.
 */
export function columnChecks(namespace: string, { to, sources }: TableTransition, now: number): ColumnCheck[] {
  return to.columns.flatMap((column): ColumnCheck[] => {
    const source = sources.get(column.name);
    const where = `${namespace}.${to.name}.${column.name}`;
    if (source !== undefined) return changeChecks(source, column, where);
    if (fillOf(column, now).kind !== 'none') return [];
    const fault = `${where}: a new required column needs a default, because the table has rows`;
    return [{ kind: 'row', fault: () => fault }];
  });
}

function changeChecks(from: Column, to: Column, where: string): ColumnCheck[] {
  const change = compareColumns(from, to);
  const checks: ColumnCheck[] = [];
  if (change.becomesRequired) {
    const fault = (rows: number): string => `${where}: ${rowsText(rows)} NULL, and the column becomes required`;
    checks.push({ kind: 'null', from, fault });
  }
  if (change.narrows) {
    const fault = (rows: number): string => `${where}: ${rowsText(rows)} a value that does not fit ${sizeText(to)}`;
    checks.push({ kind: 'misfit', from, to, fault });
  }
  if (change.narrowsValues) {
    const fault = (rows: number): string => `${where}: ${rowsText(rows)} a value that oneOf does not list`;
    checks.push({ kind: 'unlisted', from, values: to.oneOf ?? [], fault });
  }
  return checks;
}

function sizeText(column: Column): string {
  if (column.type === 'string') return `a length of ${column.length}`;
  if (column.type === 'decimal') return `decimal(${column.precision},${column.scale})`;
  return column.type;
}

function rowsText(count: number): string {
  return count === 1 ? '1 row has' : `${count} rows have`;
}

/** Checks for values that a new key, unique column or unique index would have twice. */
export function repeatChecks(namespace: string, change: TableTransition, now: number): RepeatCheck[] {
  return newUniqueSets(change).flatMap((columns) => {
    const stored = storedColumns(columns, change, now);
    if (stored === null) return [];
    const fault = `${namespace}.${change.to.name}: rows repeat each other in ${columns.join(', ')}, which becomes unique`;
    return [{ columns: stored, fault }];
  });
}

/** Conversions never make two values equal, so that a unique set stays unique. */
function newUniqueSets({ from, to, sources }: TableTransition): (readonly string[])[] {
  const kept = new Set(uniqueSets(from).map(setText));
  const seen = new Set<string>();
  return uniqueSets(to).filter((columns) => {
    const stored = columns.map((name) => sources.get(name)?.name);
    const isKept = stored.every((name) => name !== undefined) && kept.has(setText(stored));
    const isSeen = seen.has(setText(columns));
    seen.add(setText(columns));
    return !isKept && !isSeen;
  });
}

function setText(columns: readonly (string | undefined)[]): string {
  return columns.toSorted().join(' ');
}

/** Stored columns in which rows would repeat each other; null if they cannot. NULL equals nothing. */
function storedColumns(columns: readonly string[], { to, sources }: TableTransition, now: number): string[] | null {
  const stored: string[] = [];
  for (const name of columns) {
    const source = sources.get(name);
    if (source !== undefined) {
      stored.push(source.name);
      continue;
    }
    const fill = newFill(to, name, now);
    // A constant is the same in all rows and divides no group; any other value is unique.
    if (fill?.kind !== 'constant' || fill.value === null) return null;
  }
  return stored;
}

function newFill(table: Table, name: string, now: number): ReturnType<typeof fillOf> | null {
  const column = table.columns.find((candidate) => candidate.name === name);
  return column === undefined ? null : fillOf(column, now);
}
