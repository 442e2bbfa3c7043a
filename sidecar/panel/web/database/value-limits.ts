import type { ColumnInfo, JsonText } from '#panel/shapes/database.ts';
import { kindOf, shownText } from './json-text.ts';

export type LimitFault = 'fault-range' | 'fault-scale' | 'fault-digits' | 'fault-length';

const PLAIN_NUMBER = /^-?(\d+)(?:\.(\d+))?$/;
const BITS: Readonly<Record<string, number>> = { int32: 32, int64: 64 };

type Limited = Pick<ColumnInfo, 'type' | 'length' | 'precision' | 'scale'>;

/** Whether the column can hold a value; null if it can, or if only the database can tell. */
export function limitFault(column: Limited, json: JsonText): LimitFault | null {
  if (column.type === 'string') return isLonger(column, json) ? 'fault-length' : null;
  const [, whole, fraction = ''] = PLAIN_NUMBER.exec(json) ?? [];
  if (whole === undefined) return null;
  const bits = BITS[column.type];
  if (bits !== undefined) return BigInt.asIntN(bits, BigInt(json)) === BigInt(json) ? null : 'fault-range';
  const { precision, scale } = column;
  if (column.type !== 'decimal' || precision === undefined || scale === undefined) return null;
  if (fraction.replace(/0+$/, '').length > scale) return 'fault-scale';
  return whole.replace(/^0+/, '').length > precision - scale ? 'fault-digits' : null;
}

function isLonger({ length }: Limited, json: JsonText): boolean {
  return length !== undefined && kindOf(json) === 'string' && [...shownText(json)].length > length;
}

/** Numbers that the texts of the faults name. */
export function limitsOf({ type, length = 0, precision = 0, scale = 0 }: Limited) {
  const bits = BigInt(BITS[type] ?? 1);
  const most = 2n ** (bits - 1n);
  return { scale, length, digits: precision - scale, min: String(-most), max: String(most - 1n) };
}
