import { readFileSync } from 'node:fs';
import { ConfigError } from '../../config/config-error.ts';

const MOST_BYTES = 65_536;

/** A pair of age: the identity opens what was encrypted to the recipient. */
export interface IdentityPair {
  readonly identity: string;
  readonly recipient: string;
}

export async function newIdentity(): Promise<IdentityPair> {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Identities of a file as age and `backup keygen` write it. @param field option or setting that names the file. @throws ConfigError */
export async function readIdentities(file: string, field: string): Promise<string[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${field}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const lines = text.slice(0, MOST_BYTES).split(/\r?\n/);
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const { Decrypter } = await import('age-encryption');
  for (const identity of identities) {
    try {
      new Decrypter().addIdentity(identity);
    } catch {
      throw new ConfigError(`${field}: ${file} holds a line that is no identity of age (AGE-SECRET-KEY-…)`);
    }
  }
  if (identities.length === 0) throw new ConfigError(`${field}: ${file} holds no identity of age (AGE-SECRET-KEY-…)`);
  return identities;
}
