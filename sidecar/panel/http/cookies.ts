export const SESSION_COOKIE = 'panel-session';
export const CSRF_COOKIE = 'panel-csrf';

/** The value of a cookie; empty where it is not sent, or sent more than once with different values: one of them is foreign. */
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
