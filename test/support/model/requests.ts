import { filterText } from './model-filter.ts';
import type { Cells, ModelColumn, ModelFilter, ModelTable, Step, StepOf } from './types.ts';

export interface ModelRequest {
  readonly operation: string;
  /** JSON text without the namespace: `{"namespace":…,` is put before it. */
  readonly payload: string;
}

export function requestOf(step: Step): ModelRequest {
  const parts = step.op === 'batch' ? batchParts(step) : [`"table":"${step.table}"`, ...partsOf(step)];
  if ('key' in step && step.key !== null) parts.push(`"idempotencyKey":"${step.key}"`);
  return { operation: step.op, payload: parts.join() };
}

function batchParts({ operations, atomic }: StepOf<'batch'>): string[] {
  const members = operations.map(({ write, expected }) => {
    const expect = expected === null ? '' : `,"expect":{"affected":${expected}}`;
    return `{"op":"${write.op}",${requestOf(write).payload}${expect}}`;
  });
  return [`"operations":[${members}]`, ...(atomic ? [] : ['"atomic":false'])];
}

function partsOf(step: Exclude<Step, { op: 'batch' }>): string[] {
  switch (step.op) {
    case 'insert':
      return [`"rows":[${step.rows.map(cellsText)}]`];
    case 'update':
      return [
        ...filterPart(step.filter, true),
        ...(Object.keys(step.set).length > 0 ? [`"set":${cellsText(step.set)}`] : []),
        ...(Object.keys(step.inc).length > 0 ? [`"inc":${cellsText(step.inc)}`] : []),
      ];
    case 'upsert':
      return [
        ...[`"row":${cellsText(step.row)}`, `"keys":${JSON.stringify(step.keys)}`],
        ...(step.update === null ? [] : [`"update":${JSON.stringify(step.update)}`]),
        ...(Object.keys(step.inc).length > 0 ? [`"inc":${cellsText(step.inc)}`] : []),
      ];
    case 'delete':
      return filterPart(step.filter, true);
    case 'find':
      return [
        ...filterPart(step.filter, false),
        ...(step.fields === null ? [] : [`"fields":${JSON.stringify(step.fields)}`]),
        ...pageParts(step),
      ];
    case 'aggregate':
      return [
        ...filterPart(step.filter, false),
        ...(step.groupBy.length === 0 ? [] : [`"groupBy":${JSON.stringify(step.groupBy)}`]),
        `"values":${JSON.stringify(step.values)}`,
        ...pageParts(step),
      ];
    case 'count':
      return filterPart(step.filter, false);
    default:
      return step satisfies never;
  }
}

function pageParts({ sort, limit, offset }: Extract<Step, { op: 'find' | 'aggregate' }>): string[] {
  return [
    ...(sort.length === 0 ? [] : [`"sort":${JSON.stringify(sort)}`]),
    ...(limit === null ? [] : [`"limit":${limit}`]),
    ...(offset === 0 ? [] : [`"offset":${offset}`]),
  ];
}

function cellsText(cells: Cells): string {
  return `{${Object.entries(cells).map(([name, { text }]) => `"${name}":${text}`)}}`;
}

function filterPart(filter: ModelFilter | null, isWrite: boolean): string[] {
  if (filter === null) return isWrite ? ['"all":true'] : [];
  return [`"filter":${filterText(filter)}`];
}

/** JSON text of `schema`. */
export function schemaText(tables: readonly ModelTable[]): string {
  return `{"tables":[${tables.map(tableText)}]}`;
}

function tableText({ name, primaryKey, columns, indexes }: ModelTable): string {
  const parts = [`"name":"${name}"`, `"columns":[${columns.map(columnText)}]`];
  if (primaryKey.length > 0) parts.push(`"primaryKey":${JSON.stringify(primaryKey)}`);
  if (indexes.length > 0) parts.push(`"indexes":${JSON.stringify(indexes)}`);
  return `{${parts}}`;
}

function columnText(column: ModelColumn): string {
  const parts = [`"name":"${column.name}"`, `"type":"${column.type}"`];
  if (column.type === 'string') parts.push(`"length":${column.length}`);
  if (column.type === 'decimal') parts.push(`"precision":${column.precision}`, `"scale":${column.scale}`);
  for (const flag of ['nullable', 'unique', 'autoIncrement'] as const) if (column[flag]) parts.push(`"${flag}":true`);
  if (column.default !== null) parts.push(`"default":${column.default.text}`);
  return `{${parts}}`;
}
