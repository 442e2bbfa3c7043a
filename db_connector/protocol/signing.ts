import { timingSafeEqual } from 'node:crypto';
import { MIN_SECRET_BYTES, SIGNATURE_LENGTH } from './limits.ts';
import { SigningKey } from './signing-key.ts';

/**
 * The HMAC key of a secret: the UTF-8 bytes of the text without surrounding white space, never decoded (contract
 * section 2). Throws `RangeError` below 32 bytes; the message never holds the secret.
 */
export function importSecret(text: string): SigningKey {
  const bytes = Buffer.from(text.trim(), 'utf8');
  if (bytes.length < MIN_SECRET_BYTES) {
    throw new RangeError(`expected a secret of at least ${MIN_SECRET_BYTES} bytes, got ${bytes.length}`);
  }
  return new SigningKey(bytes);
}

/** `ts` in Unix seconds; `payload` the exact text that is sent. */
export function requestText(path: string, kid: string, ts: number, nonce: string, payload: string): string {
  return `v1\n${path}\n${kid}\n${ts}\n${nonce}\n${payload}`;
}

/** `nonce` is that of the request which is answered. */
export function responseText(nonce: string, status: number, payload: string): string {
  return `v1resp\n${nonce}\n${status}\n${payload}`;
}

export function signRequest(
  key: SigningKey,
  path: string,
  kid: string,
  ts: number,
  nonce: string,
  payload: string,
): string {
  return key.sign(requestText(path, kid, ts, nonce, payload));
}

export function signResponse(key: SigningKey, nonce: string, status: number, payload: string): string {
  return key.sign(responseText(nonce, status, payload));
}

/**
 * Compares the 43 characters themselves, in constant time: decoding base64url first would accept variants, as the last
 * character has two bits to spare. Anything of another length is another signature.
 */
export function isSameSignature(a: string, b: string): boolean {
  const [left, right] = [signatureBytes(a), signatureBytes(b)];
  return timingSafeEqual(left ?? NO_SIGNATURE, right ?? NO_SIGNATURE) && left !== null && right !== null;
}

const NO_SIGNATURE = Buffer.alloc(SIGNATURE_LENGTH);

/** Of 43 ASCII characters; longer in UTF-8 means that one of them is none. */
function signatureBytes(signature: string): Buffer | null {
  if (signature.length !== SIGNATURE_LENGTH) return null;
  const bytes = Buffer.from(signature, 'utf8');
  return bytes.length === SIGNATURE_LENGTH ? bytes : null;
}
