import type { ColumnInfo, JsonText } from '#panel/shapes/database.ts';
import { type ExactJson, ExactNumber, parseExact, writeExact } from './json-text.ts';
import { type TypedFault, typedText } from './typed-text.ts';

/** A line of the filter form. `isNull` is two operators for readers: it is empty, or it is not. */
export interface Condition {
  readonly id: number;
  readonly column: string;
  readonly op: string;
  /** As it is written; for `in` and `nin` a value a line. */
  readonly text: string;
}

export interface FilterDraft {
  readonly join: 'and' | 'or';
  readonly conditions: readonly Condition[];
}

export const NO_FILTER: FilterDraft = { join: 'and', conditions: [] };

/** Operators for people: those of the column, `isNull` as two of them. */
export function opsOf(column: Pick<ColumnInfo, 'filterOps' | 'nullable'>): readonly string[] {
  return column.filterOps.flatMap((op) => {
    if (op !== 'isNull') return [op];
    return column.nullable ? ['isNull', 'notNull'] : [];
  });
}

export function takesList(op: string): boolean {
  return op === 'in' || op === 'nin';
}

export function takesNothing(op: string): boolean {
  return op === 'isNull' || op === 'notNull';
}

export type ConditionFault = TypedFault | 'fault-empty' | 'fault-column';

export interface BuiltFilter {
  /** Empty if everything is meant. */
  readonly text: JsonText;
  readonly faults: ReadonlyMap<number, ConditionFault>;
}

/** Text of the API's filter language. */
export function buildFilter(draft: FilterDraft, columns: readonly ColumnInfo[]): BuiltFilter {
  const faults = new Map<number, ConditionFault>();
  const parts: string[] = [];
  for (const condition of draft.conditions) {
    const built = buildCondition(condition, columns);
    if ('fault' in built) faults.set(condition.id, built.fault);
    else parts.push(built.json);
  }
  const [only = ''] = parts;
  return { text: parts.length < 2 ? only : `{${JSON.stringify(draft.join)}:[${parts.join(',')}]}`, faults };
}

function buildCondition(
  { column: name, op, text }: Condition,
  columns: readonly ColumnInfo[],
): { readonly json: JsonText } | { readonly fault: ConditionFault } {
  const column = columns.find((one) => one.name === name);
  if (column === undefined) return { fault: 'fault-column' };
  if (takesNothing(op)) return { json: conditionText(name, 'isNull', op === 'isNull' ? 'true' : 'false') };
  const written = takesList(op) ? text.split('\n').filter((line) => line.trim() !== '') : [text];
  if (written.length === 0) return { fault: 'fault-empty' };
  const values: JsonText[] = [];
  for (const one of written) {
    const value = typedText(column, one);
    if ('fault' in value) return { fault: one.trim() === '' ? 'fault-empty' : value.fault };
    values.push(value.json);
  }
  if ((op === 'startsWith' || op === 'contains') && text === '') return { fault: 'fault-empty' };
  return { json: conditionText(name, op, takesList(op) ? `[${values.join(',')}]` : (values[0] ?? 'null')) };
}

function conditionText(field: string, op: string, value: JsonText): JsonText {
  return `{"field":${JSON.stringify(field)},"op":${JSON.stringify(op)},"value":${value}}`;
}

/** Whether the lines can show it: an address may hold any operator and any column. */
export function isOffered({ conditions }: FilterDraft, columns: readonly ColumnInfo[]): boolean {
  return conditions.every(({ column: name, op }) => {
    const column = columns.find((one) => one.name === name);
    return column !== undefined && opsOf(column).includes(op);
  });
}

/** The other way, for a filter from the address. Null if it says more than these lines can. */
export function draftOf(text: JsonText): FilterDraft | null {
  if (text.trim() === '') return NO_FILTER;
  try {
    const filter = parseExact(text);
    const group = groupOf(filter);
    const members = group === null ? [filter] : group.members;
    const conditions = members.map(conditionOf);
    if (conditions.some((condition) => condition === null)) return null;
    return { join: group?.join ?? 'and', conditions: conditions as Condition[] };
  } catch {
    return null;
  }
}

function groupOf(filter: ExactJson): { readonly join: 'and' | 'or'; readonly members: readonly ExactJson[] } | null {
  if (!isRecord(filter) || Object.keys(filter).length !== 1) return null;
  const join = 'and' in filter ? 'and' : 'or';
  const members = filter[join];
  return Array.isArray(members) ? { join, members } : null;
}

function conditionOf(filter: ExactJson, id: number): Condition | null {
  if (!isRecord(filter)) return null;
  const { field, op, value, ...more } = filter;
  if (typeof field !== 'string' || typeof op !== 'string' || Object.keys(more).length > 0) return null;
  const condition = { id, column: field, op, text: '' };
  if (op === 'isNull') return { ...condition, op: value === false ? 'notNull' : 'isNull' };
  if (Array.isArray(value)) return takesList(op) ? { ...condition, text: value.map(writtenOf).join('\n') } : null;
  return value === undefined || value === null || isRecord(value) ? null : { ...condition, text: writtenOf(value) };
}

function writtenOf(value: ExactJson): string {
  return typeof value === 'string' ? value : writeExact(value);
}

function isRecord(value: ExactJson | undefined): value is { readonly [name: string]: ExactJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}
