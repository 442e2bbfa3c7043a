import * as z from 'zod';
import { ConfigError } from './config-error.ts';
import { configSchema } from './config-schema.ts';
import { fieldName, unwrap } from './describe-problems.ts';
import { type FieldKind, kindOf } from './rules.ts';

type Path = readonly (string | number)[];
type Section = Record<string, unknown>;

export interface AppliedVariables {
  /** Variables that name no field. */
  readonly unknown: readonly string[];
  /** Field, as errors name it (`api.port`), to the variable that has set it. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Lays `SIDECAR_…` variables over the file's single values (contract section 2): the path in upper snake case, the place
 * in a list as a number (`SIDECAR_KEYS_0_SECRET_FILE`), lists of texts separated by commas. A variable that is empty
 * means null, or that the property is left out. A text that does not fit its field is left as text, for the schema to refuse.
 */
export function applyEnvironment(file: Section, environment: NodeJS.ProcessEnv): AppliedVariables {
  const unknown: string[] = [];
  const fields = new Map<string, string>();
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith('SIDECAR_') || text === undefined) continue;
    const field = findField(configSchema, name.slice('SIDECAR_'.length), []);
    if (field === null) unknown.push(name);
    else {
      setAt(file, field.path, readValue(field.kind, text));
      fields.set(fieldName(field.path), name);
    }
  }
  return { unknown, fields };
}

function findField(schema: z.ZodType, rest: string, path: Path): { path: Path; kind: FieldKind } | null {
  const inner = unwrap(schema);
  const kind = kindOf(inner);
  if (kind !== undefined) return rest === '' ? { path, kind } : null;
  if (inner instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(inner.shape)) {
      const remaining = afterName(rest, snakeCase(name));
      const found = remaining === null ? null : findField(field as z.ZodType, remaining, [...path, name]);
      if (found !== null) return found;
    }
  }
  if (inner instanceof z.ZodRecord) return findInRecord(inner.valueType as z.ZodType, rest, path);
  if (inner instanceof z.ZodArray) {
    const index = /^(\d{1,3})_/.exec(rest);
    if (index !== null)
      return findField(inner.element as z.ZodType, rest.slice(index[0].length), [...path, Number(index[1])]);
  }
  return null;
}

/** Names of a record are in lower snake case themselves, so that each cut between name and field is worth a try. */
function findInRecord(entry: z.ZodType, rest: string, path: Path): { path: Path; kind: FieldKind } | null {
  for (let cut = rest.indexOf('_'); cut > 0; cut = rest.indexOf('_', cut + 1)) {
    const found = findField(entry, rest.slice(cut + 1), [...path, rest.slice(0, cut).toLowerCase()]);
    if (found !== null) return found;
  }
  return null;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function afterName(rest: string, name: string): string | null {
  if (rest === name) return '';
  return rest.startsWith(`${name}_`) ? rest.slice(name.length + 1) : null;
}

function readValue(kind: FieldKind, text: string): unknown {
  switch (kind) {
    case 'text':
      return text === '' ? undefined : text;
    case 'nullableText':
      return text === '' ? null : text;
    case 'number':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text === '' ? [] : text.split(',').map((item) => item.trim());
    default:
      return kind satisfies never;
  }
}

/** Sections that the file leaves out are made; what is there in their place and is no section is left for the schema. */
function setAt(root: Section, path: Path, value: unknown): void {
  let place: Record<string | number, unknown> = root;
  for (const [index, step] of path.slice(0, -1).entries()) {
    if (place[step] === undefined || place[step] === null) place[step] = typeof path[index + 1] === 'number' ? [] : {};
    const next = place[step];
    if (typeof next !== 'object' || next === null) return;
    place = next as Record<string | number, unknown>;
  }
  const name = path.at(-1) as string | number;
  if (value === undefined) delete place[name];
  else place[name] = value;
}

/** Runs `work`; an error of a field that a variable has set, or that holds one, names the variable too. */
export function namingVariables<T>(fields: AppliedVariables['fields'], work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [field = ''] = error.message.split(': ', 1);
    const names = [...fields].filter(([set]) => isWithin(set, field)).map(([, name]) => name);
    throw names.length === 0 ? error : new ConfigError(`${error.message} (${names.join(', ')} is set)`);
  }
}

function isWithin(field: string, whole: string): boolean {
  return field === whole || field.startsWith(`${whole}.`) || field.startsWith(`${whole}[`);
}
