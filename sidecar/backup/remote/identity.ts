import { ConfigError, namingFileLater } from '../../config/config-error.ts';
import type { SidecarConfig } from '../../config/load-config.ts';
import { readSmallFile } from '../../config/secrets.ts';

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

/**
 * Identities of the file that the option `--identity` names, or of `backup.identityFile`; none if neither is there.
 * @throws ConfigError
 */
export async function identitiesOf(
  option: string | null,
  { file, backup: { identityFile } }: Pick<SidecarConfig, 'file' | 'backup'>,
): Promise<string[]> {
  if (option !== null) return readIdentities(option, '--identity');
  if (identityFile === null) return [];
  return namingFileLater(file, () => readIdentities(identityFile, 'backup.identityFile'));
}

/** As age and `backup keygen` write them. @param field option or setting that names the file */
async function readIdentities(file: string, field: string): Promise<string[]> {
  const text = readSmallFile(file, field, { folder: '.', environment: {}, warnings: [], isMadeLater: false });
  const lines = text.split(/\r?\n/);
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const { Decrypter } = await import('age-encryption');
  for (const identity of identities) {
    try {
      new Decrypter().addIdentity(identity);
    } catch {
      throw new ConfigError(
        `${field}: expected identities of age (AGE-SECRET-KEY-…), got another line in ${file}: remove it, or name the right file`,
      );
    }
  }
  if (identities.length === 0)
    throw new ConfigError(
      `${field}: expected an identity of age (AGE-SECRET-KEY-…), got none in ${file}: name the file that backup keygen's first line was kept in`,
    );
  return identities;
}
