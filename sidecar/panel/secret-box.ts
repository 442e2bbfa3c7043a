import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { replaceFile } from '#sidecar/config/new-file.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OWNER_ONLY = 0o600;

/** Names of the row that a secret belongs to: a ciphertext that was moved to another row does not open. */
export type SecretPlace = readonly string[];

/** Encrypts secrets of `panel.sqlite` (AES-256-GCM) with the key of a file beside it. A copy of the store alone opens none. */
export class SecretBox {
  readonly #file: string;
  #key: Buffer | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  seal(secret: string, place: SecretPlace): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#anyKey(), nonce).setAAD(placeBytes(place));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** null if the key is another one, or the ciphertext belongs elsewhere. */
  open(sealed: Buffer, place: SecretPlace): string | null {
    this.#key ??= readKey(this.#file);
    if (this.#key === null || sealed.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(placeBytes(place)).setAuthTag(tag);
    try {
      const opened = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }

  /** Keyed hash, for short secrets that are only compared: without the key they cannot be found by trying. */
  digest(secret: string, place: SecretPlace): Buffer {
    return createHmac('sha256', this.#anyKey()).update(placeBytes(place)).update('\n').update(secret).digest();
  }

  #anyKey(): Buffer {
    this.#key ??= readKey(this.#file) ?? makeKey(this.#file);
    return this.#key;
  }
}

function placeBytes(place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(place));
}

function makeKey(file: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  replaceFile(file, `${key.toString('base64')}\n`, OWNER_ONLY);
  return key;
}

/** null if there is none. @throws Error if it is no key: a new one would lose every secret */
function readKey(file: string): Buffer | null {
  const kind = lstatSync(file, { throwIfNoEntry: false });
  if (kind === undefined) return null;
  const key = kind.isFile() && kind.size < 1024 ? Buffer.from(readFileSync(file, 'utf8').trim(), 'base64') : null;
  if (key?.length === KEY_BYTES) return key;
  throw new Error(
    `${file}: expected a key of ${KEY_BYTES} bytes in base64; restore it, or remove it and enter each secret again`,
  );
}
