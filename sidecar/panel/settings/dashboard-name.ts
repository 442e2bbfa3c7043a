import { MAX_NAME_CHARS } from '../shapes/accounts.ts';
import { isTooLongToRead } from '../typed-text.ts';

/** What the panel and, where nothing else names it, the server is called; null where it cannot be that. */
export function readDashboardName(given: unknown): string | null {
  if (typeof given !== 'string' || isTooLongToRead(given) || !given.isWellFormed()) return null;
  const name = given.trim().normalize('NFC');
  const length = [...name].length;
  // Neither control characters nor such that turn a line of text round.
  const isShown = !/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u.test(name);
  return length >= 1 && length <= MAX_NAME_CHARS && isShown ? name : null;
}
