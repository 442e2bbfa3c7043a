/**
 * Money as whole cents in a BigInt.
 *
 * A database decimal is exact, a JavaScript number is not (0.1 + 0.2 is 0.30000000000000004). So money goes from the
 * database's digits to cents, is added up as cents, and goes back as digits. It never passes through a float.
 */

const AMOUNT = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/** Whole cents. `1234n` is 12.34. */
export type Cents = bigint;

/** Reads `12`, `12.5` or `12.50`, as text or as the helper hands it out. Throws where a digit would be lost. */
export function toCents(amount: string | number | bigint): Cents {
  const match = AMOUNT.exec(String(amount));
  if (!match) throw new Error(`not an amount of money: ${amount}`);
  const [, sign, whole = '', fraction = ''] = match;
  const cents = BigInt(whole + fraction.padEnd(2, '0'));
  return sign ? -cents : cents;
}

/** The digits that the database takes: `-5n` is `-0.05`. */
export function toDecimal(cents: Cents): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** For people: `1234567n` is `12,345.67`. */
export function showMoney(cents: Cents): string {
  const [whole = '', fraction] = toDecimal(cents).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}
