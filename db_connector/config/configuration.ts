import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { importSecret } from '../protocol/signing.ts';
import type { SigningKey } from '../protocol/signing-key.ts';
import { ConfigError } from './config-error.ts';
import { type DatabaseConfig, parseDatabaseConfig } from './database-config.ts';

/** Everything that a connection to the API needs. */
export interface Configuration {
  readonly config: DatabaseConfig;
  readonly key: SigningKey;
  /** PEM text of `caFile`; null: the certificates that Node.js trusts. */
  readonly ca: string | null;
}

export interface ConfigurationSource {
  /** Absolute path of `database.json`. */
  readonly file: string;
  /** The host's protected store; undefined where it holds none. */
  readonly storedSecret: () => string | undefined;
}

/**
 * Reads the file, the secret and the certificate. The secret comes from the host's protected store, else from
 * `DB_CONNECTOR_SECRET`, else from `secretFile` (contract section 8).
 *
 * @throws ConfigError
 */
export function loadConfiguration(source: ConfigurationSource): Configuration {
  const folder = dirname(source.file);
  const config = parseDatabaseConfig(readText(source.file, source.file).replace(/^\uFEFF/, ''));
  return {
    config,
    key: importKey(source, config, folder),
    ca: config.caFile === null ? null : readText(resolve(folder, config.caFile), 'caFile'),
  };
}

function importKey(source: ConfigurationSource, config: DatabaseConfig, folder: string): SigningKey {
  const [secret, origin] = findSecret(source, config, folder);
  try {
    return importSecret(secret);
  } catch {
    throw new ConfigError(`${origin}: expected a secret of at least 32 bytes, got a shorter one`);
  }
}

function findSecret(source: ConfigurationSource, config: DatabaseConfig, folder: string): [string, string] {
  const stored = source.storedSecret();
  if (stored !== undefined) {
    return [stored, 'db_connector_secret'];
  }
  const fromEnvironment = process.env.DB_CONNECTOR_SECRET;
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return [fromEnvironment, 'DB_CONNECTOR_SECRET'];
  }
  if (config.secretFile === null) {
    throw new ConfigError('secretFile: expected a path, or the environment variable DB_CONNECTOR_SECRET, got neither');
  }
  return [readText(resolve(folder, config.secretFile), 'secretFile'), 'secretFile'];
}

function readText(path: string, field: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const where = field === path ? path : `${field}: expected a readable file at ${path}`;
    throw new ConfigError(`${where}: ${code === 'ENOENT' ? 'it does not exist' : code}`);
  }
}
