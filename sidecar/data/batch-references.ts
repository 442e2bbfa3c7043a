import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#protocol/json.ts';
import type { BatchMember } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';

/** `{"$result":[operation, row]}` in place of a column's value (contract section 11). */
export interface ResultReference {
  readonly operation: number;
  readonly row: number;
}

/** Returns the value for a reference. `path` is the path of the reference. @throws ApiError */
export type Resolve = (reference: ResultReference, path: string) => Json;

const NAME = '$result';

/**
 * The operation with what its references stand for. Columns of type json take any value, also one that looks like a
 * reference; the same object is returned if there is none.
 * @throws ApiError `invalid_value` for a reference that is none, and what `resolve` throws
 */
export function withResults<Member extends BatchMember>(member: Member, table: Table, resolve: Resolve): Member {
  if (!mentions(member)) return member;
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  const value = (name: string, json: Json, path: string) =>
    takesReference(columns.get(name)) ? resolved(json, path, resolve) : json;
  const row = (json: JsonObject, path: string) => mapped(json, (each, name) => value(name, each, `${path}.${name}`));
  const filter = (json: Json, path: string): Json => {
    if (Array.isArray(json)) return json.map((each, i) => filter(each, `${path}[${i}]`));
    if (!isJsonObject(json)) return json;
    const { field, value: compared, ...rest } = json;
    if (typeof field === 'string' && compared !== undefined) {
      return { ...rest, field, value: list(compared, `${path}.value`, (each, at) => value(field, each, at)) };
    }
    return mapped(json, (each, name) => filter(each, `${path}.${name}`));
  };
  // The table of what each operation has is the protocol's; here only those properties change that hold values.
  const changed: Record<string, unknown> = { ...member };
  if ('rows' in member) changed.rows = member.rows.map((each, i) => row(each, `rows[${i}]`));
  if ('row' in member) changed.row = row(member.row, 'row');
  if ('set' in member && member.set !== undefined) changed.set = row(member.set, 'set');
  if ('filter' in member && member.filter !== undefined) changed.filter = filter(member.filter, 'filter');
  return changed as Member;
}

/** Inherits nothing, as objects of the reader. */
function mapped(json: JsonObject, map: (value: Json, name: string) => Json): JsonObject {
  const changed = Object.create(null) as JsonObject;
  for (const [name, value] of Object.entries(json)) changed[name] = map(value, name);
  return changed;
}

function list(json: Json, path: string, map: (json: Json, path: string) => Json): Json {
  return Array.isArray(json) ? json.map((each, i) => map(each, `${path}[${i}]`)) : map(json, path);
}

function takesReference(column: Column | undefined): boolean {
  return column !== undefined && column.type !== 'json';
}

/** Most batches have none at all, and need not be walked through with their columns. */
function mentions(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(mentions);
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (name === NAME || mentions((value as Record<string, unknown>)[name])) return true;
  return false;
}

function resolved(json: Json, path: string, resolve: Resolve): Json {
  if (!isJsonObject(json) || !(NAME in json)) return json;
  return resolve(referenceOf(json, path), path);
}

function referenceOf(json: JsonObject, path: string): ResultReference {
  const place = json[NAME];
  if (Object.keys(json).length === 1 && Array.isArray(place) && place.length === 2) {
    const [operation, row] = place;
    if (isIndex(operation) && isIndex(row)) return { operation, row };
  }
  throw new ApiError('invalid_value', `${path}: expected {"${NAME}": [operation, row]}, counted from 0`);
}

function isIndex(json: Json | undefined): json is number {
  return typeof json === 'number' && Number.isSafeInteger(json) && json >= 0;
}
