import type { ColumnType, ExactNumber, ModelColumn, ModelValue, Operand } from './types.ts';

const NUMERIC: readonly ColumnType[] = ['int32', 'int64', 'decimal'];

/** JSON text of a value as the API returns it. */
export function renderValue(column: ModelColumn, value: ModelValue): string {
  if (value === null) return 'null';
  if (column.type === 'decimal') return decimalText(value as bigint, column.scale);
  if (column.type === 'json') return String(value);
  if (typeof value === 'bigint') return String(value);
  return JSON.stringify(value);
}

/** Digits of `scaled` / 10^scale, without zeros at the end. */
export function decimalText(scaled: bigint, scale: number): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The greatest and the least number that a column holds, in the form of its values. */
export function rangeOf({ type, precision }: ModelColumn): { min: bigint; max: bigint } {
  if (type === 'int32') return { min: -(2n ** 31n), max: 2n ** 31n - 1n };
  if (type === 'int64') return { min: -(2n ** 63n), max: 2n ** 63n - 1n };
  return { min: -(10n ** BigInt(precision)) + 1n, max: 10n ** BigInt(precision) - 1n };
}

/** Ascending, NULL first. */
export function compareValues(type: ColumnType, a: ModelValue, b: ModelValue): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (type === 'bytes') return Buffer.compare(Buffer.from(String(a), 'base64'), Buffer.from(String(b), 'base64'));
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How a value that is not NULL lies to the operand of a condition. */
export function compareToOperand(column: ModelColumn, value: ModelValue, operand: Operand['value']): number {
  if (!NUMERIC.includes(column.type)) return compareValues(column.type, value, operand as ModelValue);
  const { digits, scale } = operand as ExactNumber;
  const own = column.type === 'decimal' ? column.scale : 0;
  const left = (value as bigint) * 10n ** BigInt(Math.max(0, scale - own));
  const right = digits * 10n ** BigInt(Math.max(0, own - scale));
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The sum, or null if the column cannot hold it. NULL counts from 0. */
export function addTo(column: ModelColumn, value: ModelValue, amount: ModelValue): ModelValue {
  if (column.type === 'float64') {
    const sum = Number(value ?? 0) + Number(amount);
    if (!Number.isFinite(sum)) return null;
    return sum === 0 ? 0 : sum;
  }
  const sum = BigInt((value as bigint | null) ?? 0n) + (amount as bigint);
  const { min, max } = rangeOf(column);
  return sum < min || sum > max ? null : sum;
}
