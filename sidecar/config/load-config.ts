import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isJsonObject, JsonError, parseJson } from '#protocol/json.ts';
import { describeJsonFault } from '#protocol/json-fault.ts';
import { nameSidecar } from '../file-owner.ts';
import type { KeyRow } from '../security/keyring.ts';
import { type BackupConfig, readBackup } from './backup.ts';
import { ConfigError, namingFile } from './config-error.ts';
import { type ConfigFile, configSchema, type KeyOfFile } from './config-schema.ts';
import { type DatabaseConfig, readDatabase } from './database.ts';
import { describeProblems } from './describe-problems.ts';
import { applyEnvironment, namingVariables } from './environment.ts';
import { readSecret, readSecretFile, type SecretPlace } from './secrets.ts';
import { decodeText, fileFault } from './text-file.ts';
import { readWriteBehind, type WriteBehindConfig } from './write-behind.ts';

/** sidecar.json as it is used: defaults filled in, paths absolute, secrets read. */
export interface SidecarConfig extends Omit<ConfigFile, 'database' | 'keys' | 'writeBehind' | 'backup'> {
  /** Absolute path of sidecar.json: what makes this sidecar this one on its machine. */
  readonly file: string;
  /** Folder of it. */
  readonly folder: string;
  /** Where the sidecar keeps what it must remember: `data` beside sidecar.json. */
  readonly dataFolder: string;
  readonly database: DatabaseConfig;
  readonly writeBehind: WriteBehindConfig;
  readonly backup: BackupConfig;
  readonly keys: readonly KeyRow[];
  /** Names of the environment's variables that hold a secret: what this sidecar starts must not have them. */
  readonly secretVariables: ReadonlySet<string>;
  /** Lines for the operator about what is legal but unwise. */
  readonly warnings: readonly string[];
}

/** Reads and checks FILE with the environment over it. Throws `ConfigError`. `isCheck` lets secrets be missing. */
export function loadConfig(file: string, environment: NodeJS.ProcessEnv, isCheck = false): SidecarConfig {
  const parsed = readConfigFile(file, environment);
  const given = { file, environment, isMadeLater: isCheck };
  return namingFile(file, () => namingVariables(parsed.variables, () => configOf(parsed, given)));
}

/** `text` as the content of FILE, with its secrets. @param recovered as in `SecretPlace` @throws ConfigError */
export function loadConfigText(
  text: string,
  file: string,
  environment: NodeJS.ProcessEnv,
  recovered?: ReadonlyMap<string, string>,
): SidecarConfig {
  const parsed = parseConfig(text, file, environment);
  const given = { file, environment, isMadeLater: true, ...(recovered && { recovered }) };
  return namingFile(file, () => namingVariables(parsed.variables, () => configOf(parsed, given)));
}

type GivenPlace = Omit<SecretPlace, 'folder' | 'warnings'> & { readonly file: string };

function configOf(parsed: ParsedFile, { file, ...given }: GivenPlace): SidecarConfig {
  const { keys, ...rest } = parsed.config;
  const { folder, warnings } = parsed;
  const place: SecretPlace = { ...given, folder, warnings };
  const at = (path: string) => resolve(folder, path);
  const { tls, socketPath } = rest.api;
  return Object.freeze({
    ...rest,
    api: {
      ...rest.api,
      socketPath: socketPath === null ? null : at(socketPath),
      tls: tls === null ? null : { certFile: at(tls.certFile), keyFile: at(tls.keyFile) },
    },
    panel: {
      ...rest.panel,
      data: at(rest.panel.data),
      caFile: orNull(rest.panel.caFile, at),
      git: orNull(rest.panel.git, at),
    },
    database: withCheckpoints(readDatabase(rest.database, place), rest.backup.continuous !== null),
    writeBehind: readWriteBehind(rest.writeBehind, folder),
    backup: readBackup(rest.backup, folder),
    file: resolve(file),
    folder,
    dataFolder: at('data'),
    keys: keys.map((key, index) => readKey(key, `keys[${index}]`, place)),
    secretVariables: new Set(secretVariablesOf(parsed.config).filter(isNamed)),
    warnings: [...warnings, ...adviceOn(parsed.config)],
  });
}

function secretVariablesOf({ database, keys, backup: { remote } }: ConfigFile): (string | undefined)[] {
  const ofKeys = keys.map(({ secretEnv }) => secretEnv);
  return [database.urlEnv, remote?.accessKeyEnv, remote?.secretKeyEnv, ...ofKeys];
}

/** @throws ConfigError for a database that Litestream does not know */
function withCheckpoints(database: DatabaseConfig, isContinuous: boolean): DatabaseConfig {
  if (!isContinuous) return database;
  if (database.provider === 'sqlite') return { ...database, leavesCheckpoints: true };
  throw new ConfigError(
    `backup.continuous: is for SQLite; docs/backup.md shows the way of the engine itself (provider ${database.provider})`,
  );
}

/** null stays null. */
function orNull(path: string | null, at: (path: string) => string): string | null {
  return path === null ? null : at(path);
}

function isNamed(name: string | undefined): name is string {
  return name !== undefined;
}

interface ParsedFile {
  readonly config: ConfigFile;
  readonly folder: string;
  readonly warnings: string[];
  /** Field to the variable that has set it. */
  readonly variables: ReadonlyMap<string, string>;
}

/** The checked file, before any secret is read. */
export function readConfigFile(file: string, environment: NodeJS.ProcessEnv): ParsedFile {
  const parsed = parseConfig(readConfigText(file), file, environment);
  if (holdsSecret(parsed.config) && hasMode(file, 0o004)) {
    parsed.warnings.push(`${file} holds a secret and every user of this machine can read it; use mode 0600`);
  }
  if (hasMode(file, 0o002)) {
    parsed.warnings.push(`${file} can be changed by every user of this machine, also who may sign; use mode 0600`);
  }
  return parsed;
}

/** `text` as the content of FILE, which need not be there yet. @throws ConfigError */
export function parseConfig(text: string, file: string, environment: NodeJS.ProcessEnv): ParsedFile {
  const warnings: string[] = [];
  const root = parseConfigText(text, file);
  const ownVariables = new Set<unknown>();
  const { unknown, fields: variables } = applyEnvironment(root, environment);
  const checked = configSchema.safeParse(root);
  if (!checked.success) throw new ConfigError(`${file}: ${describeProblems(checked.error, root, variables)}`);
  for (const name of secretVariablesOf(checked.data)) ownVariables.add(name);
  for (const name of unknown) {
    if (!ownVariables.has(name)) warnings.push(`${name} is set, and names no setting of sidecar.json`);
  }
  return { config: checked.data, folder: dirname(resolve(file)), warnings, variables };
}

/** @throws ConfigError */
export function readConfigText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new ConfigError(fileFault(file, error, 'make it with init, or name the right one with --config'));
  }
  nameSidecar(file);
  const { text, fault } = decodeText(bytes);
  if (text === null) throw new ConfigError(`${file}: ${fault}; save it as UTF-8`);
  return text;
}

/** @throws ConfigError */
function parseConfigText(text: string, file: string): Record<string, unknown> {
  try {
    const root = parseJson(text);
    if (isJsonObject(root)) return root;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ConfigError(`${file}: ${describeJsonFault(text, error)}`);
  }
  throw new ConfigError(`${file}: expected a JSON object, got another value`);
}

function readKey(key: KeyOfFile, field: string, place: SecretPlace): KeyRow {
  const { kid, operations, namespaces, allowUnfilteredWrites, addresses } = key;
  const secret = readSecret(key, field, place);
  return {
    kid,
    secret,
    previous: readPrevious(key, field, place),
    operations,
    namespaces,
    allowUnfilteredWrites,
    addresses,
  };
}

function readPrevious(key: KeyOfFile, field: string, place: SecretPlace): KeyRow['previous'] {
  if (key.previousSecretFile === undefined && key.previousUntil === undefined) return null;
  if (key.previousSecretFile === undefined || key.previousUntil === undefined) {
    throw new ConfigError(`${field}: expected previousSecretFile and previousUntil together, got one of them`);
  }
  const secret = readSecretFile(key.previousSecretFile, `${field}.previousSecretFile`, place);
  return { secret, until: Date.parse(key.previousUntil) };
}

function holdsSecret({ database, keys }: ConfigFile): boolean {
  return keys.some((key) => key.secret !== undefined) || (database.url !== undefined && hasPassword(database.url));
}

function hasPassword(url: string): boolean {
  return /^[a-z+]+:\/\/[^/?#]*:[^/?#]*@/i.test(url);
}

/** Whether all users have this right; Windows keeps other ones. */
function hasMode(file: string, right: number): boolean {
  return process.platform !== 'win32' && (statSync(file).mode & right) !== 0;
}

const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Warnings about settings that are legal but have a consequence that an owner may not expect. */
export function adviceOn({ api, database, panel }: ConfigFile): string[] {
  return [...timeoutAdvice(api, database), ...apiAdvice(api), ...panelAdvice(panel)];
}

/** The limits nest so that a slow statement is a signed 504 and not a transport failure (contract section 2). */
function timeoutAdvice(
  { requestTimeoutMs }: ConfigFile['api'],
  { statementTimeoutMs }: ConfigFile['database'],
): string[] {
  if (statementTimeoutMs < requestTimeoutMs) return [];
  return [
    `database.statementTimeoutMs (${statementTimeoutMs}) is not below api.requestTimeoutMs (${requestTimeoutMs}): slow statements answer timeout`,
  ];
}

function apiAdvice({ host, socketPath, tls, requireHttps, trustedProxies }: ConfigFile['api']): string[] {
  if (socketPath !== null || LOOPBACK.test(host) || tls !== null || trustedProxies.length > 0) return [];
  const consequence =
    requireHttps === 'never'
      ? 'everyone on the network between can read the rows. Requests stay signed, so nobody can change them'
      : 'requests from other machines are refused with https_required';
  return [`api.host is ${host} without api.tls: ${consequence}. Set api.tls, or api.host to 127.0.0.1`];
}

function panelAdvice({ enabled, host, publicUrl }: ConfigFile['panel']): string[] {
  if (!enabled || LOOPBACK.test(host) || publicUrl?.startsWith('https://') === true) return [];
  return [
    `panel.host is ${host} without TLS: passwords cross the network in plain text. Set panel.host to 127.0.0.1 and use a web server with TLS in front (docs/panel-remote.md)`,
  ];
}
