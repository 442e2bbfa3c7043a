import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { foldText } from '#protocol/fold.ts';
import { parseJson } from '#protocol/json.ts';
import { isJsonObject, type Json } from '#protocol/json-value.ts';
import { maxLength } from '#protocol/value-texts.ts';
import { parseValue, type Value } from '#protocol/values.ts';

/** A column that the sidecar writes itself. */
export interface DerivedColumn {
  readonly column: Column;
  readonly source: Column;
}

/** All derived columns of a table. */
export function derivedOf(columns: readonly Column[]): readonly DerivedColumn[] {
  return columns.flatMap((column) => {
    const source = columns.find(({ name }) => name === column.derived?.from);
    return source === undefined ? [] : [{ column, source }];
  });
}

/**
 * Sets what follows from the values that are there: each of the `derived` columns whose source is in `values`
 * (contract section 11). The others stay as they are.
 */
export function deriveInto(derived: readonly DerivedColumn[], values: Map<string, Value>): void {
  const read = new Map<string, Json>();
  for (const { column, source } of derived) {
    const value = values.get(source.name);
    if (value === undefined) continue;
    let json = read.get(source.name);
    if (json === undefined) {
      json = jsonOf(source, value);
      read.set(source.name, json);
    }
    values.set(column.name, derivedValue(column, json));
  }
}

/** A source is json or text. */
function jsonOf({ type }: Column, value: Value): Json {
  if (typeof value !== 'string') return null;
  return type === 'json' ? parseJson(value) : value;
}

/** Value of a derived column from its source; null if the source has none, or none that fits. */
function derivedValue(column: Column, source: Json): Value {
  const taken = valueAt(source, column.derived?.path ?? []);
  const json = column.derived?.fold === true && typeof taken === 'string' ? foldText(taken, maxLength(column)) : taken;
  try {
    return parseValue(column, json);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** A name leads into an object, an index into an array. */
function valueAt(json: Json, path: readonly (string | number)[]): Json {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') {
      value = Array.isArray(value) ? (value[step] ?? null) : null;
    } else {
      value = isJsonObject(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null;
    }
  }
  return value;
}
