import { hash, timingSafeEqual } from 'node:crypto';
import { MIN_SECRET_BYTES, SIGNATURE_LENGTH } from './limits.ts';
import { Scratch } from './scratch.ts';

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

/** The signed text before the payload. `ts` in Unix seconds. */
export function requestHead(path: string, kid: string, ts: number, nonce: string): string {
  return `v1\n${path}\n${kid}\n${ts}\n${nonce}\n`;
}

export function signRequest(
  key: SigningKey,
  path: string,
  kid: string,
  ts: number,
  nonce: string,
  payload: string,
): string {
  return key.sign(requestHead(path, kid, ts, nonce), payload);
}

/**
 * @param nonce that of the request which is answered
 * @param payload the exact text that is sent, or its UTF-8 bytes
 */
export function signResponse(key: SigningKey, nonce: string, status: number, payload: string | Uint8Array): string {
  return key.sign(`v1resp\n${nonce}\n${status}\n`, payload);
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
    into.write(signature, 0) === SIGNATURE_LENGTH
  );
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** A text of so many characters has its bytes counted before it is written; for a shorter one three for each are enough. */
const LONG_TEXT = 1024;
/** The inner block of a key, and a text behind it: every key uses it in turn. */
const scratch = new Scratch();

/**
 * An HMAC-SHA256 key (RFC 2104) for many short texts. One call of `hash` for each half costs half of what `createHmac`
 * does, which makes a stream for every signature. The bytes are private, so that no log and no error shows them.
 */
export class SigningKey {
  readonly #inner = Buffer.alloc(BLOCK_BYTES);
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
    return Uint8Array.from(this.#inner, (byte) => byte ^ 0x36);
  }

  /**
   * base64url of the HMAC of the UTF-8 bytes of a text: 43 characters.
   *
   * @param rest what follows the text; apart, so that a long text is not copied to be joined
   */
  sign(text: string, rest: string | Uint8Array = ''): string {
    this.#outer.write(hash('sha256', this.#innerOf(text, rest), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, 'base64url');
  }

  #innerOf(text: string, rest: string | Uint8Array): Buffer {
    const bytes = scratch.of(BLOCK_BYTES + maxBytesOf(text) + maxBytesOf(rest));
    bytes.set(this.#inner);
    // UTF-8: Node.js takes a third less time for it if it is not named.
    const end = BLOCK_BYTES + bytes.write(text, BLOCK_BYTES);
    if (typeof rest === 'string') return bytes.subarray(0, end + bytes.write(rest, end));
    bytes.set(rest, end);
    return bytes.subarray(0, end + rest.length);
  }
}

/** Bytes of content in UTF-8, at most. */
function maxBytesOf(content: string | Uint8Array): number {
  if (typeof content !== 'string') return content.length;
  return content.length < LONG_TEXT ? content.length * 3 : Buffer.byteLength(content);
}
