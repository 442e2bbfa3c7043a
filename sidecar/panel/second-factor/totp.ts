import { Secret, TOTP } from 'otpauth';

/** RFC 6238 with the values that every authenticator knows. */
const RULE = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Steps either way: the clocks of phone and server differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;

/** A new secret in Base32, of 160 bits. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

export function totpUri(secret: string, issuer: string, label: string): string {
  return new TOTP({ ...RULE, secret: Secret.fromBase32(secret), issuer, label }).toString();
}

/** Step of the code, counted since 1970; null for a code of no step near `now`. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = TOTP.validate({
    ...RULE,
    token: code,
    secret: Secret.fromBase32(secret),
    timestamp: now,
    window: WINDOW,
  });
  return delta === null ? null : TOTP.counter({ period: RULE.period, timestamp: now }) + delta;
}
