import type { NoticeTestResult } from '../../shapes/notices.ts';

/** Outcome of a try. */
export interface Delivery extends NoticeTestResult {
  /** As the target asked for; null: it did not. */
  readonly retryAfterMs: number | null;
}

/** Limit of one try. */
export const TRY_MS = 10_000;
const MAX_ANSWER_CHARS = 500;

/** Begin of an answer for people: without the secrets, which it may repeat. */
export function shownAnswer(text: string, secrets: readonly string[]): string {
  // The longest first: one may be a part of another.
  const known = secrets.filter((secret) => secret.length > 1).toSorted((a, b) => b.length - a.length);
  const hidden = known.reduce((shown, secret) => shown.replaceAll(secret, '…'), text);
  return hidden
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_ANSWER_CHARS)
    .toWellFormed();
}
