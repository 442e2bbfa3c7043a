import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import { type BackupConfig, backupSection, readBackup } from './backup.ts';
import { ConfigError, namingFile } from './config-error.ts';
import { describeProblems } from './describe-problems.ts';
import { applyEnvironment } from './environment.ts';
import { pretty } from './first-start.ts';
import { loadConfigText, readConfigText, type SidecarConfig } from './load-config.ts';
import { mergedConfig, type RawConfig, sectionOf, withoutTrusted } from './portable-config.ts';
import { keysOf, type PortableSecrets, pathInside, secretFilesOf } from './portable-secrets.ts';

/** A configuration that says only where the backups are: the start of a recovery on an empty machine. */
export interface RecoveryStart {
  /** sidecar.json, absolute. */
  readonly file: string;
  readonly folder: string;
  readonly dataFolder: string;
  readonly backup: BackupConfig;
  /** As it stands in the file. */
  readonly given: RawConfig;
  /** With the variables of the environment over it. */
  readonly effective: RawConfig;
}

/** @throws ConfigError */
export function readRecoveryStart(path: string, environment: NodeJS.ProcessEnv): RecoveryStart {
  const text = readConfigText(path);
  const withVariables = parseObject(text, path);
  const { fields } = applyEnvironment(withVariables, environment);
  const read = backupSection.safeParse(withVariables.backup ?? {});
  if (!read.success)
    throw new ConfigError(`${path}: backup: ${describeProblems(read.error, withVariables.backup, fields)}`);
  const file = resolve(path);
  const folder = dirname(file);
  const backup = namingFile(path, () => readBackup(read.data, folder));
  const given = JSON.parse(text) as RawConfig;
  return { file, folder, dataFolder: join(folder, 'data'), backup, given, effective: withVariables };
}

function parseObject(text: string, file: string): RawConfig {
  try {
    const root = parseJson(text);
    if (isJsonObject(root)) return root as RawConfig;
  } catch (error) {
    throw new ConfigError(`${file}: ${(error as Error).message}`);
  }
  throw new ConfigError(`${file}: expected a JSON object, got another value`);
}

/** Configuration of a machine that is to be made of a backup. */
export interface RecoveredConfig {
  readonly config: SidecarConfig;
  /** Text of the new sidecar.json. */
  readonly text: string;
  /** Files of secrets to write, by absolute path: those that the backup holds and this machine lacks. */
  readonly files: ReadonlyMap<string, string>;
  /** Kids whose secret is made new, with its file. */
  readonly newSecrets: readonly { readonly kid: string; readonly file: string }[];
  /** Lines about values of the backup that only the owner may set. */
  readonly leftOut: readonly string[];
  /** Lines about things that only the owner has. */
  readonly missing: readonly string[];
}

/**
 * The given configuration with what it leaves out taken from the backup's. Files are only ever made below the folder of
 * the configuration, and never in place of another one. @throws ConfigError for what the owner must set first
 */
export function recoverConfig(
  { given, file, folder }: RecoveryStart,
  backup: RawConfig,
  secrets: PortableSecrets,
  environment: NodeJS.ProcessEnv,
): RecoveredConfig {
  const { rest, leftOut } = withoutTrusted(backup);
  const merged = mergedConfig(given, rest);
  putBackInline(merged, secrets);
  const files = new Map<string, string>();
  for (const path of secretFilesOf(merged)) {
    const inside = pathInside(path, folder);
    const content = inside === null ? undefined : secrets.files[inside];
    if (content !== undefined && !existsSync(join(folder, `${inside}`))) files.set(join(folder, `${inside}`), content);
  }
  const isThere = (path: string) => files.has(resolve(folder, path)) || existsSync(resolve(folder, path));
  const lost = dropLostSecrets(merged, isThere);
  const text = pretty(merged);
  const config = loadConfigText(text, file, environment, files);
  const newSecrets = keysOf(merged).flatMap(({ kid, secretFile }) =>
    typeof secretFile === 'string' && !isThere(secretFile)
      ? [{ kid: String(kid), file: resolve(folder, secretFile) }]
      : [],
  );
  const missing = missingOf(merged, isThere, environment);
  return { config, text, files, newSecrets, leftOut: [...leftOutOf(given, leftOut), ...lost], missing };
}

/** Values that the owner has set, or that are the defaults, are not worth a line. */
function leftOutOf(given: RawConfig, fields: readonly (readonly [string, unknown])[]): string[] {
  return fields.flatMap(([field, value]) => {
    const path = field.split('.');
    const name = path.pop() ?? '';
    const isDefault = value === null || value === false || value === 'litestream' || `${value}` === '';
    if (isDefault || path.reduce(sectionOf, given)[name] !== undefined) return [];
    return [`${field} was ${JSON.stringify(value)} in the backup: set it yourself if that is right`];
  });
}

/** A rotation ends with its previous secret. Returns lines for game servers that may still sign with one. */
function dropLostSecrets(merged: RawConfig, isThere: (path: string) => boolean): string[] {
  return keysOf(merged).flatMap((key) => {
    const { kid, secretFile, previousSecretFile: previous, previousUntil: until } = key;
    if (typeof previous !== 'string' || isThere(previous)) return [];
    delete key.previousSecretFile;
    delete key.previousUntil;
    const isNew = typeof secretFile === 'string' && !isThere(secretFile);
    if (isNew || typeof until !== 'string' || !(Date.parse(until) > Date.now())) return [];
    const name = `the previous secret of the key ${String(kid)}, good until ${until}`;
    return [`${name}: game servers that still sign with it need the present one`];
  });
}

/** Secrets that stood in sidecar.json itself; a key without one gets a file. */
function putBackInline(merged: RawConfig, { keys, databaseUrl }: PortableSecrets): void {
  for (const key of keysOf(merged)) {
    const isPlaced = ['secret', 'secretFile', 'secretEnv'].some((name) => key[name] !== undefined);
    if (isPlaced) continue;
    const secret = keys[String(key.kid)];
    if (secret === undefined) key.secretFile = `secrets/${String(key.kid)}.secret`;
    else key.secret = secret;
  }
  const database = sectionOf(merged, 'database');
  const isServer = (database.provider ?? 'sqlite') !== 'sqlite';
  if (!isServer || ['url', 'urlFile', 'urlEnv'].some((name) => database[name] !== undefined)) return;
  if (databaseUrl === null) {
    throw new ConfigError(
      `database: the backup has no URL of the ${String(database.provider)} server, as it held a password; set url, urlFile or urlEnv, or another provider`,
    );
  }
  merged.database = { ...database, url: databaseUrl };
}

function missingOf(merged: RawConfig, isThere: (path: string) => boolean, environment: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  for (const { kid, secretEnv } of keysOf(merged)) {
    if (typeof secretEnv === 'string' && environment[secretEnv] === undefined)
      lines.push(`the secret of the key ${String(kid)} is expected in the variable ${secretEnv}`);
  }
  const { urlEnv } = sectionOf(merged, 'database');
  if (typeof urlEnv === 'string' && environment[urlEnv] === undefined)
    lines.push(`the URL of the database is expected in the variable ${urlEnv}`);
  const tls = sectionOf(sectionOf(merged, 'api'), 'tls');
  for (const name of ['certFile', 'keyFile']) {
    const path = tls[name];
    if (typeof path === 'string' && !isThere(path)) lines.push(`api.tls.${name} is expected as ${path}`);
  }
  if (!isThere('secrets/accounts.key'))
    lines.push('stored tokens of git accounts cannot be read: enter them in the panel again (if there were any)');
  if (!isThere('secrets/panel.key'))
    lines.push(
      'second factors cannot be checked: remove each with main.js accounts reset-second-factor NAME (if there were any)',
    );
  return lines;
}
