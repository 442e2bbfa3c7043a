import { ApiError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json-value.ts';
import { kindOf } from './value-fault.ts';

export function schemaFault(path: string, reason: string): ApiError {
  return new ApiError('invalid_schema', `${path}: ${reason}`);
}

/** So that a hostile declaration does not come back many times as long. */
const MAX_WARNINGS = 100;
const MAX_WARNED_NAME_LENGTH = 100;

/** Reads the properties of a declaration: null means left out, unknown ones are ignored with a warning. */
export class SchemaReader {
  readonly warnings: string[] = [];
  /** Whether this is a schema that the sidecar itself has stored. */
  readonly isStored: boolean;

  constructor(options: { readonly isStored?: boolean } = {}) {
    this.isStored = options.isStored ?? false;
  }

  object(json: Json | undefined, path: string, known: readonly string[]): JsonObject {
    if (!isJsonObject(json)) throw schemaFault(path, `expected an object, got ${kindOf(json)}`);
    for (const name of Object.keys(json)) {
      if (!known.includes(name)) this.#warn(`${path}.${name.slice(0, MAX_WARNED_NAME_LENGTH)}`);
    }
    return json;
  }

  #warn(path: string): void {
    if (this.warnings.length === MAX_WARNINGS) this.warnings.push('more unknown properties, ignored');
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push(`${path}: unknown property, ignored`);
  }

  list(json: Json | undefined, path: string): readonly Json[] {
    if (!Array.isArray(json)) throw schemaFault(path, `expected an array, got ${kindOf(json)}`);
    return json;
  }

  /** Names in a list; whether they exist is the caller's question. */
  names(json: Json | undefined, path: string): readonly string[] {
    return this.list(json, path).map((item, i) => {
      if (typeof item !== 'string') throw schemaFault(`${path}[${i}]`, `expected a column name, got ${kindOf(item)}`);
      return item;
    });
  }

  /** The name of a table or column, by the specification's naming rule: `invalid_identifier`. */
  name(json: Json | undefined, path: string, isName: (name: string) => boolean): string {
    if (typeof json !== 'string') throw schemaFault(path, `expected a name, got ${kindOf(json)}`);
    if (!isName(json)) throw new ApiError('invalid_identifier', `${path}: not a name that is allowed`);
    return json;
  }

  flag(json: Json | undefined, path: string): boolean {
    if (json === undefined || json === null) return false;
    if (typeof json !== 'boolean') throw schemaFault(path, `expected true or false, got ${kindOf(json)}`);
    return json;
  }

  integer(json: Json | undefined, path: string, min: number, max: number, otherwise: number): number {
    if (json === undefined || json === null) return otherwise;
    if (typeof json === 'number' && Number.isInteger(json) && json >= min && json <= max) return json;
    const got = typeof json === 'number' ? String(json) : kindOf(json);
    throw schemaFault(path, `expected ${min} to ${max}, got ${got}`);
  }

  /** No name twice, and renames that can be done (contract section 6). `renames` goes from new to old names. */
  checkNames(items: readonly { readonly name: string }[], renames: ReadonlyMap<string, string>, path: string): void {
    const declared = new Set<string>();
    for (const [i, { name }] of items.entries()) {
      if (declared.has(name)) throw schemaFault(`${path}[${i}].name`, `${name} stands twice`);
      declared.add(name);
    }
    const old = new Set<string>();
    for (const [name, from] of renames) {
      const renamePath = `${path}[${items.findIndex((item) => item.name === name)}].renamedFrom`;
      if (from === name) throw schemaFault(renamePath, 'the own name');
      if (declared.has(from)) throw schemaFault(renamePath, `${from} is still declared`);
      if (old.has(from)) throw schemaFault(renamePath, `two are renamed from ${from}`);
      old.add(from);
    }
  }
}
