/** Of plain digits, as servers write decimals: with as many fraction digits as the column has. */
export function withoutTrailingZeros(digits: string): string {
  if (!digits.includes('.')) return digits;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, digits.charCodeAt(end - 1) === 0x2e ? end - 1 : end);
}

const SECONDS_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length;

/** Of "2024-01-02 03:04:05.6", with or without a fraction. */
export function isoTime(text: string): string {
  const fraction = text.slice(SECONDS_LENGTH + 1).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, SECONDS_LENGTH)}.${fraction}Z`;
}
