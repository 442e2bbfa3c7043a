import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** A cookie's value as we give it out; a known one stays, so that two tabs do not take each other's token away. */
export function csrfCookieValue(sent: string): string {
  return COOKIE_VALUE.test(sent) ? sent : randomBytes(32).toString('base64url');
}

/**
 * The token that belongs to a cookie and a session (empty before sign-in). The session's own token is the key: whoever can set
 * a cookie for this host, such as another port of it, still cannot make a token for somebody's session, and one from before a
 * sign-in is stale after it.
 */
export function csrfToken(cookie: string, sessionToken: string): string {
  const kind = sessionToken === '' ? 'anonymous' : 'session';
  return createHmac('sha256', `${kind}\n${sessionToken}`).update(cookie).digest('base64url');
}

export function isCsrfToken(token: string | undefined, cookie: string, sessionToken: string): boolean {
  if (!COOKIE_VALUE.test(cookie)) return false;
  const expected = Buffer.from(csrfToken(cookie, sessionToken));
  const given = Buffer.from(token ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
