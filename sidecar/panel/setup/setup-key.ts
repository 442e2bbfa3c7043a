import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { replaceFile } from '#sidecar/config/new-file.ts';
import type { Log } from '#sidecar/log.ts';

const KEY_BYTES = 32;
const KEY = /^[A-Za-z0-9_-]{43}$/;
const OWNER_ONLY = 0o600;

/** Proof that a person may set this panel up: they can read the owner's files, or the sidecar's log. */
export class SetupKey {
  readonly #file: string;
  /** null after the key was used. */
  #digest: Buffer | null;

  private constructor(file: string, key: string | null) {
    this.#file = file;
    this.#digest = key === null ? null : digestOf(key);
  }

  /** The key of an earlier start if no other user can have read or written it, else a new key. Logs the key. */
  static open(file: string, log: Log): SetupKey {
    let key = readKept(file);
    if (key === null) {
      key = randomBytes(KEY_BYTES).toString('base64url');
      replaceFile(file, `${key}\n`, OWNER_ONLY);
    }
    log.info('setup key', { key });
    return new SetupKey(file, key);
  }

  /** For a panel that is set up: no key matches, and the leftovers of a crash are removed. */
  static used(file: string, log: Log): SetupKey {
    const key = new SetupKey(file, null);
    key.retire(log);
    return key;
  }

  matches(candidate: unknown): boolean {
    // Digests always have the same length, and comparing them reveals nothing about a part of the key.
    const given = digestOf(typeof candidate === 'string' ? candidate : '');
    return this.#digest !== null && timingSafeEqual(given, this.#digest);
  }

  /** A file that cannot be removed is harmless: it is logged, and the panel goes on. */
  retire(log: Log): void {
    this.#digest = null;
    try {
      rmSync(this.#file, { force: true });
    } catch (error) {
      log.warn('the used setup key cannot be removed', {
        file: this.#file,
        code: (error as NodeJS.ErrnoException).code,
      });
    }
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function readKept(file: string): string | null {
  const kind = lstatSync(file, { throwIfNoEntry: false });
  if (kind === undefined || !kind.isFile() || kind.size > KEY_BYTES * 4) return null;
  const isPrivate = process.platform === 'win32' || ((kind.mode & 0o077) === 0 && kind.uid === process.getuid?.());
  if (!isPrivate) return null;
  const key = readFileSync(file, 'utf8').trim();
  return KEY.test(key) ? key : null;
}
