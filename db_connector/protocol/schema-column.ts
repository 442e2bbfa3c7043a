import { COLUMN_TYPE_NAMES, COLUMN_TYPES, type Column, type ColumnType, isColumnType } from './columns.ts';
import { isColumn } from './identifiers.ts';
import { parseJson } from './json-reader.ts';
import type { Json, JsonObject } from './json-value.ts';
import {
  DEFAULT_DECIMAL_PRECISION,
  DEFAULT_DECIMAL_SCALE,
  DEFAULT_STRING_LENGTH,
  MAX_DECIMAL_PRECISION,
  MAX_STRING_LENGTH,
} from './limits.ts';
import { parseColumnOptions } from './schema-derived.ts';
import { type SchemaReader, schemaFault } from './schema-reader.ts';
import { kindOf, relabelled } from './value-fault.ts';
import { parseValue, writeValue } from './values.ts';

const COLUMN_PROPERTIES = [
  'name',
  'type',
  'length',
  'precision',
  'scale',
  'nullable',
  'default',
  'unique',
  'autoIncrement',
  'renamedFrom',
  'derived',
  'onUpdate',
  'oneOf',
] as const;
/** Properties of a stored column; a declared column has no `filling`. */
const STORED_PROPERTIES = [...COLUMN_PROPERTIES, 'filling'] as const;

export interface ParsedColumn {
  readonly column: Column;
  readonly renamedFrom: string | null;
}

export function parseColumn(reader: SchemaReader, json: Json, path: string): ParsedColumn {
  const object = reader.object(json, path, reader.isStored ? STORED_PROPERTIES : COLUMN_PROPERTIES);
  const name = reader.name(object.name, `${path}.name`, isColumn);
  const type = parseType(object.type, `${path}.type`);
  const sized: Column = {
    name,
    type,
    ...parseSize(reader, type, object, path),
    nullable: reader.flag(object.nullable, `${path}.nullable`) || (object.derived ?? null) !== null,
    unique: reader.flag(object.unique, `${path}.unique`),
    autoIncrement: reader.flag(object.autoIncrement, `${path}.autoIncrement`),
  };
  checkUse(sized, path);
  const bare = { ...sized, ...parseColumnOptions(reader, object, sized, path) };
  const value = parseDefault(bare, object.default, `${path}.default`);
  const renamedFrom = object.renamedFrom ?? null;
  return {
    column: value === undefined ? bare : { ...bare, default: value },
    renamedFrom: renamedFrom === null ? null : reader.name(renamedFrom, `${path}.renamedFrom`, isColumn),
  };
}

function parseType(json: Json | undefined, path: string): ColumnType {
  if (isColumnType(json)) return json;
  const got = typeof json === 'string' ? 'another' : kindOf(json);
  throw schemaFault(path, `expected one of ${COLUMN_TYPE_NAMES.join(', ')}, got ${got}`);
}

function parseSize(
  reader: SchemaReader,
  type: ColumnType,
  object: JsonObject,
  path: string,
): Pick<Column, 'length' | 'precision' | 'scale'> {
  const facts = COLUMN_TYPES[type];
  if (!facts.hasLength) refuseSize(object, 'length', type, path);
  if (!facts.hasPrecision) {
    refuseSize(object, 'precision', type, path);
    refuseSize(object, 'scale', type, path);
  }
  if (facts.hasLength) {
    return { length: reader.integer(object.length, `${path}.length`, 1, MAX_STRING_LENGTH, DEFAULT_STRING_LENGTH) };
  }
  if (!facts.hasPrecision) return {};
  const precision = reader.integer(
    object.precision,
    `${path}.precision`,
    1,
    MAX_DECIMAL_PRECISION,
    DEFAULT_DECIMAL_PRECISION,
  );
  const scale = reader.integer(object.scale, `${path}.scale`, 0, precision, Math.min(DEFAULT_DECIMAL_SCALE, precision));
  return { precision, scale };
}

function refuseSize(object: JsonObject, name: 'length' | 'precision' | 'scale', type: ColumnType, path: string): void {
  if ((object[name] ?? null) !== null) throw schemaFault(`${path}.${name}`, `${type} has none`);
}

function checkUse(column: Column, path: string): void {
  if (column.unique && !COLUMN_TYPES[column.type].isIndexable) {
    throw schemaFault(`${path}.unique`, `a column of type ${column.type} cannot be unique`);
  }
  if (!column.autoIncrement) return;
  if (column.type !== 'int32' && column.type !== 'int64') {
    throw schemaFault(`${path}.autoIncrement`, 'expected a column of type int32 or int64');
  }
}

/** In the form in which it is returned. `default: null` is no default. */
function parseDefault(column: Column, json: Json | undefined, path: string): Json | undefined {
  if (json === undefined || json === null) return undefined;
  if (column.autoIncrement) throw schemaFault(path, 'an autoIncrement column has none');
  if (isFilledIn(column.type, json)) return json;
  const value = relabelled('invalid_schema', () => parseValue(column, json, path));
  return parseJson(writeValue(column, value));
}

/** "now" and "random" are filled in by the sidecar at insert, on their own types only (contract section 4). */
export function isFilledIn(type: ColumnType, value: Json): boolean {
  if (value === 'now') return type === 'datetime' || type === 'date';
  return value === 'random' && type === 'uuid';
}
