import type { Column, Derivation } from './columns.ts';
import { isColumn } from './identifiers.ts';
import type { Json, JsonObject } from './json-value.ts';
import { MAX_JSON_COLUMN_DEPTH, MAX_ONE_OF_VALUES } from './limits.ts';
import { type SchemaReader, schemaFault } from './schema-reader.ts';
import { kindOf, relabelled } from './value-fault.ts';
import { parseText } from './value-texts.ts';

const DERIVED_TYPES: readonly string[] = [
  'int32',
  'int64',
  'decimal',
  'float64',
  'bool',
  'string',
  'datetime',
  'date',
  'uuid',
];

/** Reads `derived`, `onUpdate` and `oneOf` of a column (contract section 11); absent if they are not given. */
export function parseColumnOptions(
  reader: SchemaReader,
  object: JsonObject,
  bare: Column,
  path: string,
): Pick<Column, 'derived' | 'onUpdate' | 'oneOf' | 'filling'> {
  const derived = parseDerived(reader, object, bare, path);
  const onUpdate = parseOnUpdate(object, bare, derived !== undefined, path);
  const oneOf = parseOneOf(reader, object.oneOf, bare, `${path}.oneOf`);
  return {
    ...(derived === undefined ? {} : { derived }),
    ...(onUpdate ? { onUpdate: 'now' as const } : {}),
    ...(oneOf === undefined ? {} : { oneOf }),
    ...(reader.isStored && object.filling === true ? { filling: true as const } : {}),
  };
}

function parseDerived(reader: SchemaReader, object: JsonObject, bare: Column, where: string): Derivation | undefined {
  if (isLeftOut(object.derived)) return undefined;
  const place = `${where}.derived`;
  const { from, path: steps, fold } = reader.object(object.derived, place, ['from', 'path', 'fold']);
  if (!DERIVED_TYPES.includes(bare.type)) {
    throw schemaFault(place, `a column of type ${bare.type} cannot be derived; expected ${DERIVED_TYPES.join(', ')}`);
  }
  if (object.nullable === false) throw schemaFault(`${where}.nullable`, 'a derived column is always nullable');
  if (bare.autoIncrement) throw schemaFault(`${where}.autoIncrement`, 'a derived column has none');
  if (!isLeftOut(object.default)) throw schemaFault(`${where}.default`, 'a derived column has none');
  const folds = reader.flag(fold, `${place}.fold`);
  if (folds && bare.type !== 'string') throw schemaFault(`${place}.fold`, 'expected a column of type string');
  const path = isLeftOut(steps) ? [] : parsePath(reader, steps, `${place}.path`);
  return {
    from: reader.name(from, `${place}.from`, isColumn),
    ...(path.length === 0 ? {} : { path }),
    ...(bare.type === 'string' ? { fold: folds } : {}),
  };
}

function parsePath(reader: SchemaReader, json: Json | undefined, path: string): readonly (string | number)[] {
  const steps = reader.list(json, path);
  if (steps.length > MAX_JSON_COLUMN_DEPTH) throw schemaFault(path, `expected at most ${MAX_JSON_COLUMN_DEPTH} steps`);
  return steps.map((step, i) => {
    if (typeof step === 'string') return step;
    if (typeof step === 'number' && Number.isSafeInteger(step) && step >= 0) return step;
    const got = typeof step === 'number' ? String(step) : kindOf(step);
    throw schemaFault(`${path}[${i}]`, `expected a property name, or an index of 0 or more, got ${got}`);
  });
}

function parseOnUpdate(object: JsonObject, bare: Column, isDerived: boolean, path: string): boolean {
  const { onUpdate } = object;
  if (isLeftOut(onUpdate)) return false;
  if (onUpdate !== 'now') throw schemaFault(`${path}.onUpdate`, 'expected "now"');
  if (bare.type !== 'datetime' && bare.type !== 'date') {
    throw schemaFault(`${path}.onUpdate`, `expected a column of type datetime or date, got ${bare.type}`);
  }
  if (isDerived) throw schemaFault(`${path}.onUpdate`, 'a derived column has none');
  return true;
}

function parseOneOf(
  reader: SchemaReader,
  json: Json | undefined,
  bare: Column,
  path: string,
): readonly string[] | undefined {
  if (isLeftOut(json)) return undefined;
  if (bare.type !== 'string') throw schemaFault(path, `expected a column of type string, got ${bare.type}`);
  const values = reader.list(json, path);
  if (values.length < 1 || values.length > MAX_ONE_OF_VALUES) {
    throw schemaFault(path, `expected 1 to ${MAX_ONE_OF_VALUES} values, got ${values.length}`);
  }
  return values.map((value, i) => {
    const place = `${path}[${i}]`;
    if (values.indexOf(value) !== i) throw schemaFault(place, 'stands twice');
    return relabelled('invalid_schema', () => parseText(bare, value, place));
  });
}

/**
 * Checks what columns say against the rest of their table. What a part adds to somebody else's table (`isOpen`) may have
 * its source there; that is checked with the whole.
 */
export function checkDerived(
  columns: readonly Column[],
  primaryKey: readonly string[] | null,
  path: string,
  isOpen: boolean,
): void {
  for (const [i, column] of columns.entries()) {
    if (column.onUpdate !== undefined && primaryKey?.includes(column.name)) {
      throw schemaFault(`${path}[${i}].onUpdate`, 'a column of the primary key is never changed');
    }
    if (column.derived === undefined) continue;
    const place = `${path}[${i}].derived`;
    const source = columns.find(({ name }) => name === column.derived?.from);
    if (source !== undefined) checkSource(column, column.derived, source, place);
    else if (!isOpen) throw schemaFault(`${place}.from`, `no column ${column.derived.from} in the table`);
  }
}

function checkSource(column: Column, derived: Derivation, source: Column, place: string): void {
  if (source.derived !== undefined) throw schemaFault(`${place}.from`, `${source.name} is derived itself`);
  if (source.type === 'json') return;
  if (source.type !== 'string' && source.type !== 'text') {
    throw schemaFault(`${place}.from`, `expected a column of type json, string or text, got ${source.type}`);
  }
  if (derived.path !== undefined) throw schemaFault(`${place}.path`, `${source.name} is not a json column`);
  if (column.type !== 'string') {
    const reason = `cannot be derived from ${source.name} of type ${source.type}`;
    throw schemaFault(place, `a column of type ${column.type} ${reason}`);
  }
}

function isLeftOut(json: Json | undefined): json is null | undefined {
  return json === undefined || json === null;
}
