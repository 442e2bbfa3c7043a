import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { PanelError } from '../panel-error.ts';
import { isTooLongToRead } from '../typed-text.ts';
import { CheckLine } from './check-line.ts';

/** From OWASP's password storage cheat sheet; about 0.2 s and 32 MiB per key. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const MOST_MEMORY_BYTES = 256 * 1024 * 1024;
const KEY_BYTES = 32;
/** Half of Node's pool of four threads, which also flushes journals. */
const MOST_AT_ONCE = 2;
const MOST_WAITING = 64;

/** Passwords as scrypt keys. Computes few keys at a time: a flood of sign-ins must not take the game's processor time. */
export class PasswordHasher {
  readonly #waiting = new CheckLine(MOST_WAITING);
  readonly #nobodys = encode(COST, randomBytes(16), randomBytes(KEY_BYTES));
  /** Hashed in place of a text that is too long to normalise: takes the same time, and is never equal. */
  readonly #unmatched = randomBytes(32).toString('base64');
  #running = 0;
  #computed = 0;

  /** Keys computed so far, for the tests of equal cost. */
  get computed(): number {
    return this.#computed;
  }

  /** @param source network or account, for fair turns */
  async hash(password: string, source: string): Promise<string> {
    const salt = randomBytes(16);
    return encode(COST, salt, await this.#derive(password, salt, COST, source));
  }

  /** @param encoded null for an unknown name, which takes the same time as a known name */
  async verify(password: string, encoded: string | null, source: string): Promise<boolean> {
    const { cost, salt, key } = decode(encoded ?? this.#nobodys);
    const isEqual = timingSafeEqual(await this.#derive(password, salt, cost, source), key);
    return isEqual && encoded !== null;
  }

  async #derive(password: string, salt: Buffer, cost: ScryptOptions, source: string): Promise<Buffer> {
    const text = isTooLongToRead(password) ? this.#unmatched : password.normalize('NFC');
    await this.#turn(source);
    this.#computed += 1;
    try {
      return await new Promise((resolve, reject) => {
        const options = { ...cost, maxmem: MOST_MEMORY_BYTES };
        scrypt(text, salt, KEY_BYTES, options, (error, key) => {
          if (error === null) resolve(key);
          else reject(error);
        });
      });
    } finally {
      const next = this.#waiting.take();
      if (next === null) this.#running -= 1;
      else next.begin();
    }
  }

  async #turn(source: string): Promise<void> {
    if (this.#running < MOST_AT_ONCE) {
      this.#running += 1;
      return;
    }
    const isTurn = await this.#waiting.wait(source);
    if (!isTurn) throw new PanelError('rate.limited', { retryAfterSeconds: 5 });
  }
}

function encode({ N, r, p }: typeof COST, salt: Buffer, key: Buffer): string {
  return ['scrypt', N, r, p, salt.toString('base64'), key.toString('base64')].join('$');
}

function decode(encoded: string): { cost: ScryptOptions; salt: Buffer; key: Buffer } {
  const [kind, N, r, p, salt = '', key = ''] = encoded.split('$');
  if (kind !== 'scrypt') throw new Error('a password of panel.sqlite is of an unknown kind');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  return { cost, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}
