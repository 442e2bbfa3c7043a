import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { KeyOfFile } from '#sidecar/config/config-schema.ts';
import { connectorUrl } from '#sidecar/config/connector-url.ts';
import { FIRST_NAMESPACES } from '#sidecar/config/first-start.ts';
import { readConfigFile } from '#sidecar/config/load-config.ts';
import { InstallRefused } from './install-refused.ts';

const ANY_PORT =
  'the API listens on any free port, another one with each start: write a number into api.port of sidecar.json, and into the url of database.json';

/** Settings with which a game server calls this sidecar. */
export interface ConnectorAccess {
  readonly url: string;
  readonly keyId: string;
  readonly secret: string;
  readonly namespaces: readonly string[];
  /** Changes that the owner has to make for the access to keep working. */
  readonly notes: readonly string[];
}

/**
 * Access by the first key with all rights, else by the first key. Reads the secret from its place, since the sidecar does not
 * keep its text in memory.
 *
 * @param listening address of the API, for a port that the system chooses
 */
export function connectorAccess(
  file: string,
  environment: NodeJS.ProcessEnv,
  listening: string | null,
): ConnectorAccess {
  const { api, keys } = readConfigFile(file, environment).config;
  const key = keys.find(({ operations }) => operations.includes('*')) ?? (keys[0] as KeyOfFile);
  return {
    url: api.port === 0 && api.socketPath === null && listening !== null ? listening : connectorUrl(api),
    keyId: key.kid,
    secret: readSecretText(key, dirname(resolve(file)), environment),
    namespaces: key.namespaces.includes('*') ? FIRST_NAMESPACES : key.namespaces,
    notes: api.port === 0 && api.socketPath === null ? [ANY_PORT] : [],
  };
}

function readSecretText(key: KeyOfFile, folder: string, environment: NodeJS.ProcessEnv): string {
  const { secret, secretEnv, secretFile } = key;
  const text = secret ?? (secretEnv === undefined ? undefined : environment[secretEnv]);
  if (text !== undefined) return text.trim();
  if (secretFile === undefined) throw new InstallRefused(`key ${key.kid} of sidecar.json has no secret`);
  return readFileSync(resolve(folder, secretFile), 'utf8').trim();
}
