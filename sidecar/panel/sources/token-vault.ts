import type { SecretBox } from '../secret-box.ts';

/** Account and address that a token belongs to; a ciphertext that was moved to another row does not open. */
export interface TokenPlace {
  readonly name: string;
  readonly url: string;
}

/** Encrypts tokens with the key of `secrets/accounts.key`. A copy of `panel.sqlite` alone opens none. */
export class TokenVault {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(token: string, { name, url }: TokenPlace): Buffer {
    return this.#box.seal(token, [name, url]);
  }

  /** null if the key is another one, or the ciphertext belongs elsewhere. */
  open(sealed: Buffer, { name, url }: TokenPlace): string | null {
    return this.#box.open(sealed, [name, url]);
  }
}
