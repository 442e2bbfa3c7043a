import * as z from 'zod';
import { configSchema } from '#sidecar/config/config-schema.ts';
import { unwrap } from '#sidecar/config/describe-problems.ts';
import { SIDECAR_MEANINGS } from '#sidecar/config/field-meanings.ts';
import { kindOf } from '#sidecar/config/rules.ts';
import { type Field, withMeanings } from './field.ts';

/** Every field of sidecar.json, in the schema's order. */
export function sidecarFields(): Field[] {
  return withMeanings(fieldsOf(configSchema, ''), SIDECAR_MEANINGS);
}

function fieldsOf(schema: z.ZodType, path: string): Omit<Field, 'meaning'>[] {
  const inner = unwrap(schema);
  if (kindOf(inner) !== undefined) return [{ path, expected: expectationOf(inner), defaultValue: defaultOf(schema) }];
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) =>
      fieldsOf(field as z.ZodType, path === '' ? name : `${path}.${name}`),
    );
  }
  if (inner instanceof z.ZodArray) return fieldsOf(inner.element as z.ZodType, `${path}[]`);
  if (inner instanceof z.ZodRecord) return fieldsOf(inner.valueType as z.ZodType, `${path}.NAME`);
  throw new Error(`${path}: a schema that this script cannot describe`);
}

/** A rule's error is the accepted value in words (`rules.ts`). */
function expectationOf(field: z.ZodType): string {
  return field.safeParse(undefined).error?.issues[0]?.message ?? 'anything';
}

function defaultOf(schema: z.ZodType): unknown {
  const omitted = schema.safeParse(undefined);
  return omitted.success ? (omitted.data ?? null) : undefined;
}
