import { CONNECTOR_MAX_RETRY_AFTER_MS, CONNECTOR_RETRY_DELAYS_MS } from '../protocol/limits.ts';

/** `Retry-After` in milliseconds from `now`; null if it is missing or means nothing. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) {
    return Number(text) * 1000;
  }
  const time = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

/**
 * The pause before retry number `retry` (0 is the first), or null if the call ends: no retries are left, or the API asked
 * for more patience than a call has.
 */
export function retryDelayMs(retry: number, retryAfterMs: number | null): number | null {
  const delayMs = CONNECTOR_RETRY_DELAYS_MS[retry];
  if (delayMs === undefined || (retryAfterMs ?? 0) > CONNECTOR_MAX_RETRY_AFTER_MS) {
    return null;
  }
  return Math.max(delayMs, retryAfterMs ?? 0);
}
