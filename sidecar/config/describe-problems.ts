import * as z from 'zod';
import { nearestName } from '#protocol/unknown-names.ts';
import { configSchema } from './config-schema.ts';

const SECRET_NAMES = /secret|password|url|token/i;

/**
 * Every problem as `field: expected …, got …` or another sentence about the field, joined into one line. A secret's value never appears. `variables`: field to
 * the variable of the environment that has set it, which is named too.
 */
export function describeProblems(error: z.ZodError, file: unknown, variables: ReadonlyMap<string, string>): string {
  const lines = error.issues.flatMap((issue) => {
    const variable = variables.get(fieldName(issue.path));
    const source = variable === undefined ? '' : ` from ${variable}`;
    return describeIssue(issue, file).map((line) => `${line}${source}`);
  });
  return lines.join('; ');
}

function describeIssue(issue: z.core.$ZodIssue, file: unknown): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownSetting(issue.path, key));
  }
  if (issue.code === 'invalid_key') {
    const name = String(issue.path.at(-1));
    const expected = issue.issues[0]?.message ?? 'another name';
    return [`${fieldName(issue.path.slice(0, -1))}: expected ${expected}, got ${describeValue(name, [])}`];
  }
  if (issue.code === 'custom' && issue.params?.isSentence === true)
    return [`${fieldName(issue.path)}: ${issue.message}`];
  const value = valueAt(file, issue.path);
  return [`${fieldName(issue.path)}: expected ${expectation(issue)}, got ${describeValue(value, issue.path)}`];
}

function unknownSetting(section: readonly PropertyKey[], name: string): string {
  const nearest = nearestName(name, fieldNamesAt(section));
  const advice = nearest === null ? '' : `. Did you mean ${fieldName([...section, nearest])}?`;
  return `${fieldName([...section, name])}: unknown setting${advice}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type') return issue.message;
  if (issue.expected === 'array') return 'a list';
  return issue.expected === 'object' || issue.expected === 'record' ? 'a section in braces' : issue.message;
}

/** `keys[0].secretFile`; the whole file is `the file`. */
export function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file';
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

function describeValue(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : describeList(value, path);
  if (typeof value === 'object') return value.constructor?.name === 'JsonNumber' ? 'a number' : 'a section in braces';
  const isWholeKey = path[0] === 'keys' && path.length <= 2;
  if (isWholeKey || path.some((step) => SECRET_NAMES.test(String(step)))) return `a ${typeof value} that is not shown`;
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…"`;
}

function describeList(list: readonly unknown[], path: readonly PropertyKey[]): string {
  const items = list.slice(0, 4).map((item) => (typeof item === 'object' ? 'a section' : describeValue(item, path)));
  return `[${items.join(', ')}${list.length > 4 ? ', …' : ''}]`;
}

/** Schema of a field without its default and its null. */
export function unwrap(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault
  ) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}

/** Names of the fields of the section at `path` in sidecar.json; empty if `path` leads to no section. */
export function fieldNamesAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.ZodType = configSchema;
  for (const step of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) schema = inner.shape[String(step)] as z.ZodType;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType as z.ZodType;
    else if (inner instanceof z.ZodArray) schema = inner.element as z.ZodType;
    else return [];
  }
  const section = unwrap(schema);
  return section instanceof z.ZodObject ? Object.keys(section.shape) : [];
}
