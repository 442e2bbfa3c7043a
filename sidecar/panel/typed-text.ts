/** Enough for every password and name, also decomposed. `normalize` needs quadratic time on runs of combining marks. */
const MOST_UNITS = 1024;

/** Whether a typed text is too long to be normalised. */
export function isTooLongToRead(text: string): boolean {
  return text.length > MOST_UNITS;
}

/**
 * A name that consoles, logs and pages show: trimmed, in one form of its letters, without characters that could forge a line.
 * null if it is none, or longer than `mostChars`.
 */
export function shownName(given: unknown, mostChars: number): string | null {
  if (typeof given !== 'string' || isTooLongToRead(given) || !given.isWellFormed()) return null;
  const name = given.trim().normalize('NFC');
  const length = [...name].length;
  return length > 0 && length <= mostChars && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name) ? name : null;
}
