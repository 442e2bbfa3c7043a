import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { nameSidecar } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';
import { ConfigError } from './config-error.ts';
import type { ConfigFile } from './config-schema.ts';
import { connectorUrl } from './connector-url.ts';
import { parseConfig, readConfigFile } from './load-config.ts';
import { writeNew } from './new-file.ts';

const FIRST_CONFIG = {
  api: { host: '127.0.0.1', port: 20771 },
  database: { provider: 'sqlite', file: 'data/database.sqlite' },
  keys: [
    {
      kid: 'local',
      secretFile: 'secrets/local.secret',
      operations: ['*'],
      namespaces: ['*'],
      allowUnfilteredWrites: false,
      addresses: [],
    },
  ],
  writeBehind: { namespaces: { stats: { consistentReads: true } } },
  backup: { at: '04:30' },
};
/** Namespaces of a game server that is not configured yet. */
export const FIRST_NAMESPACES: readonly string[] = ['game', 'stats'];

/**
 * Makes sidecar.json alone, for a sidecar that a game server runs: its key and its address are new at each start.
 *
 * @returns whether it was missing
 */
export function createEmbedded(file: string): boolean {
  const { database, keys, writeBehind, backup } = FIRST_CONFIG;
  return writeNew(file, pretty({ database, keys, writeBehind, backup }));
}

/**
 * Makes what is missing (contract section 1): sidecar.json with one key, its secret, a matching database.json; and a
 * `secretFile` that does not exist yet. sidecar.json is written last, so that a first start that was cut off begins again.
 * Nothing existing is overwritten.
 *
 * @param replacedFolder folder that the next version of the program replaces: a first configuration is not made there
 * @returns the files that it made
 * @throws ConfigError
 */
export function createMissing(file: string, environment: NodeJS.ProcessEnv, replacedFolder: string | null): string[] {
  const folder = dirname(resolve(file));
  nameSidecar(file);
  const made: string[] = [];
  const make = (path: string, text: string) => {
    if (writeNew(path, text)) made.push(path);
  };
  if (existsSync(file)) {
    makeSecrets(readConfigFile(file, environment).config, folder, make);
    return made;
  }
  if (isInside(file, replacedFolder)) {
    throw new ConfigError(
      `${resolve(file)} is in the program's folder, which the next version replaces; choose another place with --config`,
    );
  }
  const text = pretty(FIRST_CONFIG);
  const { config } = parseConfig(text, file, environment);
  makeFolder(folder, 0o777);
  for (const name of ['secrets', 'data', 'logs']) makeFolder(join(folder, name));
  makeSecrets(config, folder, make);
  const { kid, secretFile } = config.keys[0] as (typeof config.keys)[number];
  const connector = { url: connectorUrl(config.api), keyId: kid, secretFile, namespaces: FIRST_NAMESPACES };
  make(join(folder, 'database.json'), pretty(connector));
  make(resolve(file), text);
  return made;
}

/** Whether a file, and the data beside it, would be lost when an owner replaces the program's folder. */
export function isInside(file: string, folder: string | null): boolean {
  return folder !== null && resolve(file).startsWith(`${folder}${sep}`);
}

function makeSecrets({ keys }: ConfigFile, folder: string, make: (path: string, text: string) => void): void {
  for (const { secretFile } of keys) if (secretFile !== undefined) make(resolve(folder, secretFile), newSecret());
}

/** 32 random bytes (contract section 1), as the text of a file. */
export function newSecret(): string {
  return `${randomBytes(32).toString('base64url')}\n`;
}

export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
