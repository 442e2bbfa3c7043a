import { isIP } from 'node:net';
import * as z from 'zod';
import { isRange } from '../security/addresses.ts';

/** How the text of an environment variable becomes a value of a field. */
export type FieldKind = 'text' | 'nullableText' | 'number' | 'boolean' | 'list';

const kinds = new WeakMap<z.ZodType, FieldKind>();

/** The kind of a single value; undefined for sections and lists of sections. */
export function kindOf(field: z.ZodType): FieldKind | undefined {
  return kinds.get(field);
}

/** Guard of a field: the expectation in words, and the check of a value. */
export function rule<Value>(expected: string, kind: FieldKind, check: (value: unknown) => boolean) {
  const field = z.custom<Value>(check, { error: expected });
  kinds.set(field, kind);
  return field;
}

export function integer(least: number, most: number) {
  return rule<number>(
    `an integer from ${least} to ${most}`,
    'number',
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most,
  );
}

export function flag() {
  return rule<boolean>('true or false', 'boolean', (value) => typeof value === 'boolean');
}

export function text(expected = 'a text that is not empty') {
  return rule<string>(expected, 'text', (value) => typeof value === 'string' && value.trim() !== '');
}

export function nullableText(expected: string) {
  return rule<string | null>(
    `${expected}, or null`,
    'nullableText',
    (value) => value === null || (typeof value === 'string' && value.trim() !== ''),
  );
}

export function oneOf<const Choice extends string>(...choices: Choice[]) {
  const expected = choices.map((choice) => JSON.stringify(choice)).join(' or ');
  return rule<Choice>(expected, 'text', (value) => choices.some((choice) => choice === value));
}

export function listOf(expected: string, check: (item: string) => boolean) {
  return rule<string[]>(
    `a list of ${expected}`,
    'list',
    (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && check(item)),
  );
}

export function ranges() {
  return listOf('CIDR ranges such as "10.0.0.0/8"', isRange);
}

const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;

export function hostsOrRanges() {
  return listOf('host names, addresses, or CIDR ranges', (text) => isRange(text) || HOST_NAME.test(text));
}

export function host() {
  return rule<string>(
    'an IP address or host name',
    'text',
    (value) =>
      typeof value === 'string' && (isIP(value) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)),
  );
}

/** ISO 8601 in UTC, such as `2026-01-31T00:00:00Z`. */
export function instant() {
  const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/;
  return rule<string>(
    'a time such as "2026-01-31T00:00:00Z"',
    'text',
    (value) => typeof value === 'string' && pattern.test(value) && Number.isFinite(Date.parse(value)),
  );
}
