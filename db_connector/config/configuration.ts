import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { importSecret, type SigningKey } from '../protocol/signing.ts';
import { ConfigError } from './config-error.ts';
import { type DatabaseConfig, type EmbeddedConfig, parseDatabaseConfig } from './database-config.ts';

/** Everything that a connection to the API needs. */
export interface Configuration {
  readonly config: DatabaseConfig;
  readonly key: SigningKey;
  /** PEM text of `caFile`; null: the certificates that Node.js trusts. */
  readonly ca: string | null;
  /** Settings that an owner should change although they work. */
  readonly warnings: readonly string[];
}

/** The same for each address of the API, the nearest first. */
export function configurationsOf(configuration: Configuration): Configuration[] {
  const { config } = configuration;
  return config.targets.map((target) => ({ ...configuration, config: { ...config, target } }));
}

/** A value that stands in place of a field of `database.json`. */
export interface ConfigOverride {
  readonly field: string;
  /** Name by which an owner knows it. */
  readonly name: string;
  readonly value: string;
}

/** How a host keeps configuration. */
export interface ConfigurationFiles {
  /** Text of a file; throws with a `code` if it cannot be read. Default: the file system's. */
  readonly readFile?: (path: string) => string;
  /** Default: none. */
  readonly overrides?: () => readonly ConfigOverride[];
  /** Other bundles can read the files, so that a secret does not belong there. */
  readonly filesAreShared?: boolean;
}

export interface ConfigurationSource extends ConfigurationFiles {
  /** Path of `database.json`, as `readFile` takes it. */
  readonly file: string;
  /** The host's protected store; undefined if it holds none. */
  readonly storedSecret: () => string | undefined;
  /** Whether the bundle's folder holds a sidecar that it can run itself. */
  readonly hasSidecar: () => boolean;
}

/** Configuration without any file: a sidecar of its own. */
const NOTHING_CONFIGURED = '{"sidecar":{"mode":"embedded"}}';

/**
 * Reads `database.json`. If there is none, and no address is given otherwise, a bundle that carries its own sidecar needs
 * none.
 *
 * @throws ConfigError
 */
export function readDatabaseConfig(source: ConfigurationSource): DatabaseConfig | EmbeddedConfig {
  const { file, hasSidecar } = source;
  const overrides = source.overrides?.() ?? [];
  const mayBeMissing = hasSidecar() && !overrides.some(({ field }) => field === 'url');
  const text = mayBeMissing && isMissing(source, file) ? NOTHING_CONFIGURED : readText(source, file, file);
  return parseConfig(overrides, text.replace(/^\uFEFF/, ''));
}

/**
 * Adds the secret and the certificate. The secret comes from the host's protected store, else from
 * `DB_CONNECTOR_SECRET`, else from `secretFile` (contract section 8).
 *
 * @throws ConfigError
 */
export function completeConfiguration(source: ConfigurationSource, config: DatabaseConfig): Configuration {
  const folder = dirname(source.file);
  const { key, isFromFile } = importKey(source, config, folder);
  return {
    config,
    key,
    ca: config.caFile === null ? null : readText(source, within(folder, config.caFile), 'caFile'),
    warnings: isFromFile && source.filesAreShared === true ? [SHARED_SECRET] : [],
  };
}

const SHARED_SECRET =
  'the secret lies in a file that every other resource can read; take it out of secretFile and put it into server.cfg: set db_connector_secret "…" and add_convar_permission db_connector read db_connector_secret';

/** @throws ConfigError that names the override if it cannot be used */
function parseConfig(overrides: readonly ConfigOverride[], text: string): DatabaseConfig | EmbeddedConfig {
  try {
    return parseDatabaseConfig(text, Object.fromEntries(overrides.map(({ field, value }) => [field, value])));
  } catch (error) {
    const culprit = overrides.find(
      ({ field }) => error instanceof ConfigError && error.message.startsWith(`${field}:`),
    );
    if (culprit === undefined || !(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.message.replace(culprit.field, culprit.name));
  }
}

function importKey(
  source: ConfigurationSource,
  config: DatabaseConfig,
  folder: string,
): { key: SigningKey; isFromFile: boolean } {
  const [secret, origin] = findSecret(source, config, folder);
  try {
    return { key: importSecret(secret), isFromFile: origin === 'secretFile' };
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
    throw new ConfigError(
      source.filesAreShared === true
        ? 'db_connector_secret: expected a secret, got nothing; in server.cfg: set db_connector_secret "…" and add_convar_permission db_connector read db_connector_secret'
        : 'secretFile: expected a path, or the environment variable DB_CONNECTOR_SECRET, got neither',
    );
  }
  return [readText(source, within(folder, config.secretFile), 'secretFile'), 'secretFile'];
}

/** Relative to the folder of `database.json`. */
function within(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function isMissing(source: ConfigurationSource, path: string): boolean {
  try {
    read(source, path);
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

function readText(source: ConfigurationSource, path: string, field: string): string {
  try {
    return read(source, path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = codeOf(error);
    const where = field === path ? path : `${field}: expected a readable file at ${path}`;
    throw new ConfigError(`${where}: ${code === 'ENOENT' ? 'it does not exist' : code}`);
  }
}

function read({ readFile }: ConfigurationSource, path: string): string {
  return readFile === undefined ? readFileSync(path, 'utf8') : readFile(path);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}
