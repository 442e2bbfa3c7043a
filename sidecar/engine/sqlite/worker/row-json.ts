import { scaledText } from '#protocol/decimal.ts';
import { floatSumText } from '../../model/aggregate.ts';
import { type Encode, RowWriter } from '../../model/page.ts';
import { scaledOfWide } from '../dialect.ts';
import type { OutputColumn, OutputKind } from './messages.ts';

/** The writer of rows whose columns came as plain data from another thread. */
export function rowWriter(columns: readonly OutputColumn[]): RowWriter {
  return new RowWriter(columns.map(({ name, kind }) => ({ name, encode: encoder(kind) })));
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
    case 'halves':
      return (value) => {
        const [high = '', low = ''] = String(value).split(':');
        return scaledText((BigInt(high) << 32n) + BigInt(low), kind.scale);
      };
    case 'floatSum':
      return floatSumText;
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
