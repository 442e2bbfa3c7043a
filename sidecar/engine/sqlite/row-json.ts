import { scaledText } from '../../../db_connector/protocol/decimal.ts';
import type { OutputColumn, OutputKind } from './messages.ts';
import { type Physical, scaledOfWide } from './storage.ts';

type Encode = (value: NonNullable<Physical>) => string;

/** Writes rows as JSON text, from physical values in the order of the columns. */
export class RowWriter {
  readonly #prefixes: readonly string[];
  readonly #encoders: readonly Encode[];

  constructor(columns: readonly OutputColumn[]) {
    this.#prefixes = columns.map(({ name }, position) => `${position === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    this.#encoders = columns.map(({ kind }) => encoder(kind));
  }

  write(row: readonly Physical[]): string {
    let text = '';
    for (let position = 0; position < row.length; position++) {
      const value = row[position] as Physical;
      text += this.#prefixes[position] as string;
      text += value === null ? 'null' : (this.#encoders[position] as Encode)(value);
    }
    return `${text}}`;
  }
}

function encoder(kind: OutputKind): Encode {
  switch (kind.as) {
    case 'number':
    case 'raw':
      return String;
    case 'bool':
      return (value) => (Number(value) === 0 ? 'false' : 'true');
    case 'string':
      return JSON.stringify;
    case 'plain':
      return (value) => `"${value}"`;
    case 'base64':
      return (value) => `"${Buffer.from(value as Uint8Array).toString('base64')}"`;
    case 'scaled':
      return (value) => pointed(String(value), kind.scale);
    case 'wide':
      return (value) => scaledText(scaledOfWide(String(value), kind.precision), kind.scale);
    default:
      return kind satisfies never;
  }
}

/** An integer times 10^-scale, without trailing zeros. */
function pointed(integer: string, scale: number): string {
  if (scale === 0) return integer;
  const isNegative = integer.startsWith('-');
  const digits = (isNegative ? integer.slice(1) : integer).padStart(scale + 1, '0');
  const point = digits.length - scale;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === 0x30) end--;
  const text = end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
  return isNegative ? `-${text}` : text;
}
