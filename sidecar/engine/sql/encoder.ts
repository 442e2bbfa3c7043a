import type { Column } from '#protocol/columns.ts';
import type { Encode } from '../model/page.ts';

/** Values that each server writes in its own way. */
export interface OwnEncoders {
  readonly float64: Encode;
  readonly bool: Encode;
  readonly bytes: Encode;
}

/** Makes JSON of a column's values, as PostgreSQL and MySQL write them. */
export function encoderOf({ type }: Column, own: OwnEncoders): Encode {
  switch (type) {
    case 'int32':
    case 'int64':
    case 'json':
      return String;
    case 'decimal':
      return (value) => withoutTrailingZeros(String(value));
    case 'float64':
    case 'bool':
    case 'bytes':
      return own[type];
    case 'string':
    case 'text':
      return JSON.stringify;
    case 'datetime':
      return (value) => `"${isoTime(String(value))}"`;
    case 'date':
    case 'uuid':
      return (value) => `"${value}"`;
    default:
      return type satisfies never;
  }
}

/** For decimals as servers write them: plain digits, with as many fraction digits as the column has. */
function withoutTrailingZeros(digits: string): string {
  if (!digits.includes('.')) return digits;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, digits.charCodeAt(end - 1) === 0x2e ? end - 1 : end);
}

const SECONDS_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length;

/** For a time as servers write it: "2024-01-02 03:04:05.6", with or without a fraction. */
function isoTime(text: string): string {
  const fraction = text.slice(SECONDS_LENGTH + 1).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, SECONDS_LENGTH)}.${fraction}Z`;
}
