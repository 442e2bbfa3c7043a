import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Answer = (error: Error | null, key: Buffer) => void;

/** Password keys that begin and wait for the test, so that it sees the order of their turns. */
export class HeldKeys {
  /** Passwords in the order in which their keys began. */
  readonly begun: string[] = [];
  readonly #scrypt = crypto.scrypt;
  readonly #held: (() => void)[] = [];
  #isHolding = true;

  /** @param isComputed if false, the password gets a key that equals none */
  constructor(isComputed: (password: string) => boolean) {
    const begin = (password: string, salt: Buffer, bytes: number, options: crypto.ScryptOptions, answer: Answer) => {
      this.begun.push(password);
      this.#held.push(() => {
        if (isComputed(password)) this.#scrypt(password, salt, bytes, options, answer);
        else answer(null, Buffer.alloc(bytes));
      });
      if (!this.#isHolding) this.release();
    };
    crypto.scrypt = begin as typeof crypto.scrypt;
    syncBuiltinESMExports();
  }

  /** Ends the key that began first. */
  release(): void {
    this.#held.shift()?.();
  }

  /** No key waits from now on. */
  letGo(): void {
    this.#isHolding = false;
    while (this.#held.length > 0) this.release();
  }

  restore(): void {
    this.letGo();
    crypto.scrypt = this.#scrypt;
    syncBuiltinESMExports();
  }
}
