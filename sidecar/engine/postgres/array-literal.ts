import type { SqlParam } from '../sql/session.ts';

const NEEDS_ESCAPE = /["\\]/g;

/**
 * Values as the text of a one-dimensional array, so that one parameter carries a whole column. Only for what the
 * server reads from text; a Uint8Array is written in hex.
 */
export function arrayLiteral(values: readonly SqlParam[]): string {
  let text = '{';
  for (let position = 0; position < values.length; position++) {
    if (position > 0) text += ',';
    text += element(values[position] as SqlParam);
  }
  return `${text}}`;
}

function element(value: SqlParam): string {
  if (value === null) return 'NULL';
  switch (typeof value) {
    case 'string':
      return `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
  }
}
