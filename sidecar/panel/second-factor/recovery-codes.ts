import { randomBytes } from 'node:crypto';
import { RECOVERY_CODES } from '../shapes/second-factor.ts';

/** 32 letters and digits that cannot be mistaken for each other. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE = /^[0-9a-hjkmnp-tv-z]{10}$/;

/** `xxxxx-xxxxx`, 50 random bits each. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const letters = [...randomBytes(10)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });
}

/** The ten characters of a typed code; case, hyphens and spaces do not count. Null if it is none. */
export function readRecoveryCode(typed: string): string | null {
  const letters = typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return CODE.test(letters) ? letters : null;
}
