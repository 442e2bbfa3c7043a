import { existsSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConfigError } from '../config/config-error.ts';
import type { KeyOfFile } from '../config/config-schema.ts';
import { newSecret } from '../config/first-start.ts';
import { replaceFile, writeNew } from '../config/new-file.ts';
import {
  CONFIG_OPTION,
  type CommandOptions,
  DEFAULT_CONFIG,
  JSON_OPTION,
  readingArguments,
  UsageError,
} from './arguments.ts';
import { type CommandIo, type CommandProcess, terminalIo } from './command-process.ts';
import { connectorLines, secretLines } from './init.ts';
import { KeyFile, type NewKey } from './key-file.ts';
import { alignedLines } from './lines.ts';
import { refuseRevoked, revokeInDatabase } from './revoke-key.ts';

const RESTART = 'restart the sidecar: it reads its keys when it starts';

const OWNER_ONLY = 0o600;

const HOUR_MS = 3_600_000;

export const KEYS_OPTIONS = {
  namespaces: { type: 'string', value: 'A,B', about: 'new: those that the key may use (default * for all)' },
  operations: { type: 'string', value: 'A,B', about: 'new: what it may do (default * for everything)' },
  addresses: { type: 'string', value: 'A,B', about: 'new: CIDR ranges from which it may be used (default all)' },
  'allow-unfiltered-writes': { type: 'boolean', about: 'new: it may update and delete with "all"' },
  hours: { type: 'string', value: 'N', about: 'rotate: how long the secret before stays good (default 24)' },
  again: { type: 'boolean', about: 'rotate: also while the secret before the last rotation is still good' },
  'show-secret': { type: 'boolean', about: 'new, rotate: prints the secret; else it stands in its file only' },
  ...JSON_OPTION,
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

const USAGE = 'expected: keys new KID, keys list, keys rotate KID or keys revoke KID';
const MAX_HOURS = 24 * 365;

/** Options beside `config` that an action takes. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  new: ['namespaces', 'operations', 'addresses', 'allow-unfiltered-writes', 'show-secret'],
  list: ['json'],
  rotate: ['hours', 'again', 'show-secret'],
  revoke: [],
};

/** `keys new|list|rotate|revoke`. A running sidecar reads the file at its next start, and within 2 s which keys were revoked. */
export async function runKeys(
  args: readonly string[],
  { environment }: Pick<CommandProcess, 'environment'>,
  givenIo?: CommandIo,
): Promise<boolean> {
  const { values, positionals } = readingArguments(() =>
    parseArgs({ args: [...args], options: KEYS_OPTIONS, allowPositionals: true }),
  );
  const [action = '', kid, ...more] = positionals;
  const takes = TAKES[action];
  if (takes === undefined || more.length > 0 || (kid === undefined) !== (action === 'list'))
    throw new UsageError(USAGE);
  const foreign = Object.keys(values).find((name) => name !== 'config' && !takes.includes(name));
  if (foreign !== undefined) throw new UsageError(`keys ${action} takes no --${foreign}; --help tells more`);
  const io = givenIo ?? terminalIo(values.json ?? false);
  const file = KeyFile.read(values.config ?? DEFAULT_CONFIG);
  const isShown = values['show-secret'] ?? false;
  if (kid === undefined) return listKeys(file, io);
  if (action === 'new') {
    await refuseRevoked(file.path, kid, environment);
    return newKey(file, newKeyOf(kid, values), isShown, io);
  }
  if (action === 'revoke') return revokeKey(file, kid, environment, io);
  const hours = Number(values.hours ?? 24);
  if (!(hours > 0 && hours <= MAX_HOURS))
    throw new UsageError(`--hours: expected a number up to ${MAX_HOURS}, got ${values.hours}`);
  return rotateKey(file, kid, { hours, isAgain: values.again ?? false, isShown }, io);
}

interface KeyValues {
  readonly namespaces?: string | undefined;
  readonly operations?: string | undefined;
  readonly addresses?: string | undefined;
  readonly 'allow-unfiltered-writes'?: boolean | undefined;
}

function newKeyOf(kid: string, values: KeyValues): NewKey {
  const listOf = (text: string): string[] => text.split(',').map((item) => item.trim());
  return {
    kid,
    secretFile: `secrets/${kid}.secret`,
    operations: listOf(values.operations ?? '*'),
    namespaces: listOf(values.namespaces ?? '*'),
    allowUnfilteredWrites: values['allow-unfiltered-writes'] ?? false,
    addresses: values.addresses === undefined ? [] : listOf(values.addresses),
  };
}

/** The secret's file first, so that the configuration never names one that is missing. */
function newKey(file: KeyFile, key: NewKey, isShown: boolean, io: CommandIo): boolean {
  const { kid, secretFile } = key;
  if (file.keys.some((other) => other.kid === kid)) {
    throw new ConfigError(`${file.path} has a key ${kid} already; keys rotate ${kid} gives it another secret`);
  }
  file.add(key);
  const path = file.at(secretFile);
  if (!writeNew(path, newSecret())) {
    throw new ConfigError(`${path} is there already, as from a key of that name; move it away, or choose another name`);
  }
  try {
    file.save();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  io.print(`made key ${kid} in ${file.path}, its secret in ${path}`);
  tellUse(file, kid, isShown, io);
  return true;
}

function listKeys(file: KeyFile, io: CommandIo): boolean {
  const shown = file.keys.map((key) => ({
    kid: key.kid,
    namespaces: key.namespaces,
    operations: key.operations,
    addresses: key.addresses,
    allowUnfilteredWrites: key.allowUnfilteredWrites,
    secret: placeOf(key),
    previousUntil: key.previousUntil ?? null,
  }));
  if (!io.isForPeople) {
    for (const key of shown) io.print(JSON.stringify(key));
    return true;
  }
  const header = ['KID', 'NAMESPACES', 'OPERATIONS', 'ADDRESSES', 'ALL', 'SECRET', 'OLD SECRET VALID'];
  const cells = shown.map((key) => [
    key.kid,
    key.namespaces.join(','),
    key.operations.join(','),
    key.addresses.join(',') || 'any',
    key.allowUnfilteredWrites ? 'yes' : 'no',
    key.secret,
    prospectOf(key.previousUntil),
  ]);
  for (const line of alignedLines(header, cells)) io.print(line);
  return true;
}

/** Where it is, never what it is. */
function placeOf({ secretFile, secretEnv }: KeyOfFile): string {
  if (secretFile !== undefined) return secretFile;
  return secretEnv === undefined ? 'in the file' : `variable ${secretEnv}`;
}

function prospectOf(until: string | null): string {
  if (until === null) return '';
  return Date.parse(until) > Date.now() ? `until ${until}` : 'no';
}

interface Rotation {
  readonly hours: number;
  /** Ends a rotation that is still under way. */
  readonly isAgain: boolean;
  readonly isShown: boolean;
}

/**
 * Each step leaves a configuration that works: the old secret is there twice, then it is the previous one as well, then the new
 * one takes its place.
 */
function rotateKey(file: KeyFile, kid: string, { hours, isAgain, isShown }: Rotation, io: CommandIo): boolean {
  const { key, index } = file.find(kid);
  if (key.secretEnv !== undefined) {
    throw new ConfigError(
      `the secret of ${kid} comes from the variable ${key.secretEnv}: write the old one into a file, name that as previousSecretFile with previousUntil, then change the variable`,
    );
  }
  if (!isAgain && key.previousUntil !== undefined && Date.parse(key.previousUntil) > Date.now()) {
    throw new ConfigError(
      `key ${kid} is being rotated: the previous secret is valid until ${key.previousUntil}, and another rotation would end that now; --again does it`,
    );
  }
  const taken = file.secretFilesBeside(index);
  // A file that is also another key's stays that one's alone.
  const own = key.secretFile === undefined || taken.has(file.at(key.secretFile)) ? null : key.secretFile;
  const secretFile = own ?? freeName(file, `secrets/${kid}`, taken);
  const previousSecretFile = freeName(file, `secrets/${kid}.previous`, taken.add(file.at(secretFile)));
  const previousUntil = new Date(Date.now() + hours * HOUR_MS).toISOString();
  replaceFile(file.at(previousSecretFile), `${oldSecret(file, key)}\n`, OWNER_ONLY);
  if (own === null) replaceFile(file.at(secretFile), newSecret(), OWNER_ONLY);
  file.change(index, { secret: null, secretFile, previousSecretFile, previousUntil });
  file.save();
  if (own !== null) replaceFile(file.at(secretFile), newSecret(), OWNER_ONLY);
  const path = file.at(secretFile);
  io.print(`key ${kid} has a new secret in ${path}; the previous secret is valid until ${previousUntil}`);
  io.print(`1. ${RESTART}`);
  io.print('2. give the game server the new secret, then db-reload there:');
  for (const line of secretLines(path, isShown ? secretIn(path) : null)) io.print(line);
  return true;
}

/** `NAME.secret`, or the first of `NAME-2.secret` and so on that no other key has. */
function freeName(file: KeyFile, name: string, taken: ReadonlySet<string>): string {
  for (let i = 1; ; i += 1) {
    const path = `${name}${i === 1 ? '' : `-${i}`}.secret`;
    if (!taken.has(file.at(path))) return path;
  }
}

function oldSecret(file: KeyFile, { secret, secretFile = '' }: KeyOfFile): string {
  if (secret !== undefined) return secret.trim();
  const path = file.at(secretFile);
  if (!existsSync(path))
    throw new ConfigError(`${path} is not there: the next start makes it, and nothing is to rotate`);
  return readFileSync(path, 'utf8').trim();
}

/** The database first: if it does not answer, nothing is changed, and the same command can be repeated. */
async function revokeKey(file: KeyFile, kid: string, environment: NodeJS.ProcessEnv, io: CommandIo): Promise<boolean> {
  const { key, index } = file.find(kid);
  if (file.keys.length === 1) {
    throw new ConfigError(
      `${kid} is the only key, and a sidecar needs one: make another with keys new, or keys rotate ${kid} --hours 0.01`,
    );
  }
  const isForAll = await revokeInDatabase(file.path, kid, environment, io);
  file.remove(index);
  file.save();
  io.print(`key ${kid} is no longer in ${file.path}`);
  const kept = new Set(file.keys.flatMap((other) => [other.secretFile, other.previousSecretFile]));
  for (const path of [key.secretFile, key.previousSecretFile]) {
    if (path === undefined || kept.has(path) || !existsSync(file.at(path))) continue;
    rmSync(file.at(path));
    io.print(`deleted ${file.at(path)}`);
  }
  if (isForAll) {
    io.print(`every sidecar of the database refuses ${kid} within 2 s; a new key needs another name`);
  }
  return true;
}

function secretIn(path: string): string {
  return readFileSync(path, 'utf8').trim();
}

function tellUse(file: KeyFile, kid: string, isShown: boolean, io: CommandIo): void {
  const { key } = file.find(kid);
  const secret = isShown && key.secretFile !== undefined ? secretIn(file.at(key.secretFile)) : null;
  io.print(RESTART);
  for (const line of connectorLines(file.config.api, key, secret)) io.print(line);
}
