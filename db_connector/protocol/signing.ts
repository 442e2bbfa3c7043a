import { hash, timingSafeEqual } from 'node:crypto';
import { MIN_SECRET_BYTES, SIGNATURE_LENGTH } from './limits.ts';

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
  const areSignatures = isSignature(a, LEFT) && isSignature(b, RIGHT);
  return timingSafeEqual(LEFT, RIGHT) && areSignatures;
}

const LEFT = Buffer.alloc(SIGNATURE_LENGTH);
const RIGHT = Buffer.alloc(SIGNATURE_LENGTH);

/** Writes 43 ASCII characters; more bytes mean that a character is not ASCII. */
function isSignature(signature: string, into: Buffer): boolean {
  return (
    signature.length === SIGNATURE_LENGTH &&
    Buffer.byteLength(signature) === SIGNATURE_LENGTH &&
    into.write(signature, 0, 'latin1') === SIGNATURE_LENGTH
  );
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer texts get a buffer of their own. */
const SCRATCH_BYTES = 16 * 1024;

/**
 * An HMAC-SHA256 key (RFC 2104) for many short texts. One call of `hash` for each half costs half of what `createHmac`
 * does, which makes a stream for every signature. The bytes are private, so that no log and no error shows them.
 */
export class SigningKey {
  /** The inner block, and room for a text behind it. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + SCRATCH_BYTES);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

  constructor(secret: Uint8Array) {
    const key = secret.length > BLOCK_BYTES ? hash('sha256', secret, 'buffer') : secret;
    for (let i = 0; i < BLOCK_BYTES; i++) {
      const byte = key[i] ?? 0;
      this.#inner[i] = byte ^ 0x36;
      this.#outer[i] = byte ^ 0x5c;
    }
  }

  /** The key for `new SigningKey` in another thread: as secret as the secret itself. */
  handOver(): Uint8Array {
    return Uint8Array.from(this.#inner.subarray(0, BLOCK_BYTES), (byte) => byte ^ 0x36);
  }

  /** base64url of the HMAC of the text's UTF-8 bytes: 43 characters. */
  sign(text: string): string {
    this.#outer.write(hash('sha256', this.#innerOf(text), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, 'base64url');
  }

  #innerOf(text: string): Buffer {
    // A UTF-16 code unit is at most three bytes.
    if (text.length * 3 <= SCRATCH_BYTES) {
      return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES, 'utf8'));
    }
    return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(text, 'utf8')]);
  }
}
