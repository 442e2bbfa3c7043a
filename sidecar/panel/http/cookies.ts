import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const SESSION_COOKIE = 'panel-session';
export const CSRF_COOKIE = 'panel-csrf';

/** The value of a cookie; empty if it is not sent, or sent with different values, as then one is foreign. */
export function readCookie(header: string | undefined, name: string): string {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return new Set(values).size === 1 ? (values[0] as string) : '';
}

export function isCookieSent(header: string | undefined, name: string): boolean {
  return (header ?? '').split(';').some((pair) => pair.trim().startsWith(`${name}=`));
}

export interface CookieOptions {
  readonly isSecure: boolean;
  /** Left out: until the browser is closed. 0 removes it. */
  readonly maxAgeSeconds?: number;
}

export function cookieText(name: string, value: string, { isSecure, maxAgeSeconds }: CookieOptions): string {
  return [
    `${name}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ].join('; ');
}

const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** Value of a new cookie; a valid one is kept, so that two tabs do not invalidate each other's token. */
export function csrfCookieValue(sent: string): string {
  return COOKIE_VALUE.test(sent) ? sent : randomBytes(32).toString('base64url');
}

/**
 * The token that belongs to a cookie and a session (empty before sign-in). The session's own token is the key: a
 * program that can set a cookie for this host, such as one on another port, still cannot make a token for a session, and a token
 * from before a sign-in is stale after it.
 */
export function csrfToken(cookie: string, sessionToken: string): string {
  const kind = sessionToken === '' ? 'anonymous' : 'session';
  return createHmac('sha256', `${kind}\n${sessionToken}`).update(cookie).digest('base64url');
}

/** Whether the header's token belongs to this browser, and to this session or to none. */
export function isCsrfToken(sent: string | string[] | undefined, cookie: string, sessionToken: string): boolean {
  if (typeof sent !== 'string' || !COOKIE_VALUE.test(cookie)) return false;
  const expected = Buffer.from(csrfToken(cookie, sessionToken));
  const given = Buffer.from(sent);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
