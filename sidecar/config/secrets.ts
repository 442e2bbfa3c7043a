import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { MIN_SECRET_BYTES } from '#protocol/limits.ts';
import { importSecret, SigningKey } from '#protocol/signing.ts';
import { ConfigError } from './config-error.ts';
import type { KeyOfFile } from './config-schema.ts';
import { decodeText, readBounded, refusedFile } from './text-file.ts';

const MAX_SECRET_FILE_BYTES = 65_536;

export interface SecretPlace {
  /** Relative paths of secrets start here. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly warnings: string[];
  /** A `secretFile` that is not there yet is made at the start, so a check lets it pass. */
  readonly isMadeLater: boolean;
  /** Texts of the files that a recovery writes later, by absolute path. */
  readonly recovered?: ReadonlyMap<string, string>;
}

/** The key's secret from the one place that is given. `field` is `keys[0]`. */
export function readSecret(key: KeyOfFile, field: string, place: SecretPlace): SigningKey {
  const given = (['secretFile', 'secretEnv', 'secret'] as const).filter((name) => key[name] !== undefined);
  if (given.length !== 1) {
    const got = given.length === 0 ? 'none' : given.join(' and ');
    throw new ConfigError(`${field}: expected exactly one of secretFile, secretEnv, secret, got ${got}`);
  }
  if (key.secretFile !== undefined) {
    if (place.isMadeLater && !isThere(key.secretFile, place)) return anySecret();
    return readSecretFile(key.secretFile, `${field}.secretFile`, place);
  }
  if (key.secret !== undefined) return toKey(key.secret, `${field}.secret`);
  const text = place.environment[key.secretEnv as string];
  // The owner sets it before the start.
  if (text === undefined && place.recovered !== undefined) return anySecret();
  if (text === undefined) throw new ConfigError(`${field}.secretEnv: expected a variable that is set, got none`);
  return toKey(text, `${field}.secretEnv`);
}

function isThere(path: string, { folder, recovered }: SecretPlace): boolean {
  const file = resolve(folder, path);
  return recovered?.has(file) === true || existsSync(file);
}

/** For a configuration with which nobody is served. */
function anySecret(): SigningKey {
  return new SigningKey(randomBytes(32));
}

export function readSecretFile(path: string, field: string, place: SecretPlace): SigningKey {
  return toKey(readSmallFile(path, field, place), field);
}

/** The text of a file that holds a secret. */
export function readSmallFile(path: string, field: string, place: SecretPlace): string {
  const file = resolve(place.folder, path);
  const recovered = place.recovered?.get(file);
  if (recovered !== undefined) return recovered;
  try {
    return readPrivateText(file, place.warnings);
  } catch (error) {
    throw refusedFile(field, file, error);
  }
}

function readPrivateText(file: string, warnings: string[]): string {
  const { bytes, mode } = readBounded(file, MAX_SECRET_FILE_BYTES);
  const isReadByAll = process.platform !== 'win32' && (mode & 0o004) !== 0;
  if (isReadByAll) warnings.push(`${file} holds a secret and every user of this machine can read it; use mode 0600`);
  const { text } = decodeText(bytes);
  if (text === null) throw new ConfigError(`expected text in UTF-8, got other bytes in ${file}: save it as UTF-8`);
  return text;
}

function toKey(text: string, field: string): SigningKey {
  const bytes = Buffer.byteLength(text.trim());
  if (bytes < MIN_SECRET_BYTES) {
    throw new ConfigError(`${field}: expected a secret of at least ${MIN_SECRET_BYTES} bytes, got ${bytes} bytes`);
  }
  return importSecret(text);
}
