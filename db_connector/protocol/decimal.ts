/**
 * A decimal number of any size, taken apart: sign × 0.DIGITS × 10^point.
 * `digits` has no zero at either end; zero itself is '' with point 0 and no sign. Equal numbers have equal parts.
 */
export interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

export const ZERO: Decimal = { negative: false, digits: '', point: 0 };

/** Beyond any use; keeps arithmetic on exponents exact. Such a number overflows or underflows everywhere. */
const MAX_EXPONENT = 1e15;

const CHAR_ZERO = 0x30;

/** Decimal of a JSON number, or of plain digits with leading zeros. The caller has checked the grammar. */
export function decimalOf(token: string): Decimal {
  const negative = token.startsWith('-');
  const exponentAt = Math.max(token.indexOf('e'), token.indexOf('E'));
  const mantissa = token.slice(negative ? 1 : 0, exponentAt < 0 ? undefined : exponentAt);
  const exponent = exponentAt < 0 ? 0 : clampExponent(Number(token.slice(exponentAt + 1)));
  const dot = mantissa.indexOf('.');
  const all = dot < 0 ? mantissa : mantissa.slice(0, dot) + mantissa.slice(dot + 1);
  const integerDigits = dot < 0 ? mantissa.length : dot;
  return trimmed(negative, all, integerDigits + exponent);
}

function clampExponent(exponent: number): number {
  return Math.min(MAX_EXPONENT, Math.max(-MAX_EXPONENT, exponent));
}

/** Loops and not `/0+$/`, which takes quadratic time on a hostile row of zeros. */
function trimmed(negative: boolean, digits: string, point: number): Decimal {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === CHAR_ZERO) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === CHAR_ZERO) end--;
  return start === end ? ZERO : { negative, digits: digits.slice(start, end), point: point - start };
}

export function isSameDecimal(a: Decimal, b: Decimal): boolean {
  return a.negative === b.negative && a.point === b.point && a.digits === b.digits;
}

export function fractionDigits(value: Decimal): number {
  return Math.max(0, value.digits.length - value.point);
}

export function integerDigits(value: Decimal): number {
  return value.digits === '' ? 0 : Math.max(0, value.point);
}

/** Digits with at most a point in them: "-12.5", "0.001". Only for numbers known to be of moderate size. */
export function plainText(value: Decimal): string {
  const { digits, point } = value;
  if (digits === '') return '0';
  const sign = value.negative ? '-' : '';
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** "-1.25e-400": for numbers too large or small to be written out. */
export function scientificText(value: Decimal): string {
  const { digits, point } = value;
  if (digits === '') return '0';
  const exponent = point - 1;
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${value.negative ? '-' : ''}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}

/**
 * The largest number with `scale` fraction digits that is not above `value`, times 10^scale, and whether it is `value`
 * itself. Only for numbers with a moderate count of integer digits.
 */
export function floorToScale(value: Decimal, scale: number): { readonly scaled: bigint; readonly exact: boolean } {
  const kept = value.point + scale;
  const exact = value.digits.length <= kept || value.digits === '';
  const cut = kept <= 0 ? '' : value.digits.slice(0, kept).padEnd(kept, '0');
  const magnitude = BigInt(cut === '' ? '0' : cut);
  if (!value.negative) return { scaled: magnitude, exact };
  return { scaled: exact ? -magnitude : -magnitude - 1n, exact };
}

export function scaledText(scaled: bigint, scale: number): string {
  const negative = scaled < 0n;
  const digits = (negative ? -scaled : scaled).toString();
  return plainText(trimmed(negative, digits, digits.length - scale));
}
