import { isJsonObject, parseJson, writeJson } from '#protocol/json.ts';
import type { Column } from '#protocol/schema.ts';
import { parseValue, writeValue } from '#protocol/values.ts';
import type { Engine } from '../engine/engine.ts';
import type { CallBounds, Row } from '../engine/rows.ts';

/** How far the filling of a namespace's derived columns has come: one table after another, each in the order of its key. */
export interface FillMark {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly Column[];
  /** All rows up to this key have their values. */
  readonly after: Row;
}

type Marks = Pick<Engine['transfer'], 'readMark' | 'writeMark'>;

export function writeFillMark(transfer: Marks, namespace: string, mark: FillMark, bounds: CallBounds): Promise<void> {
  const { table, columns, key, after } = mark;
  const values = key.map((column) => parseJson(writeValue(column, after.get(column.name) ?? null)));
  const text = writeJson({ table, columns: [...columns], key: key.map(partText), after: values });
  return transfer.writeMark(nameOf(namespace), text, bounds);
}

/** Before columns are filled from the first row on. */
export function clearFillMark(transfer: Marks, namespace: string, bounds: CallBounds): Promise<void> {
  return transfer.writeMark(nameOf(namespace), null, bounds);
}

/** Null where the rows of the table are filled from the first on: the mark is about another table, key or columns. */
export async function readFillMark(
  transfer: Marks,
  namespace: string,
  wanted: Omit<FillMark, 'after'>,
  bounds: CallBounds,
): Promise<Row | null> {
  const text = await transfer.readMark(nameOf(namespace), bounds);
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json) || !Array.isArray(json.after)) return null;
  const { table, columns, key } = wanted;
  const isSame = writeJson([json.table ?? null, json.columns ?? null, json.key ?? null]);
  if (isSame !== writeJson([table, [...columns], key.map(partText)])) return null;
  const values = json.after;
  return new Map(key.map((column, i) => [column.name, parseValue(column, values[i] ?? null)]));
}

function partText({ name, type }: Column): string {
  return `${name} ${type}`;
}

function nameOf(namespace: string): string {
  return `fill:${namespace}`;
}
