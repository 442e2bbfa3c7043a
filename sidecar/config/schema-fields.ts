import { z } from 'zod';
import { configSchema } from './config-schema.ts';

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
