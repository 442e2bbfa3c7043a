import { resolve } from 'node:path';
import { faultOfServerUrl, urlsOfHosts } from '../server-url.ts';
import { ConfigError } from './config-error.ts';
import type { ConfigFile } from './config-schema.ts';
import { readSmallFile, type SecretPlace } from './secrets.ts';

type DatabaseOfFile = ConfigFile['database'];
export type ServerProvider = Exclude<DatabaseOfFile['provider'], 'sqlite'>;

/** `database` of sidecar.json as it is used: paths absolute, the URL read from its one place. */
export type DatabaseConfig =
  | {
      readonly provider: 'sqlite';
      /** Absolute. */
      readonly file: string;
      readonly poolSize: number;
      readonly statementTimeoutMs: number;
      /** `backup.continuous` alone moves the write-ahead log into the file. */
      readonly leavesCheckpoints?: boolean;
    }
  | {
      readonly provider: ServerProvider;
      /** With account and password, and maybe several hosts: never shown. */
      readonly url: string;
      readonly poolSize: number;
      readonly statementTimeoutMs: number;
      /** On a cluster a read waits for the writes that were answered before it. */
      readonly causalReads: boolean;
    };

const URL_PLACES = ['url', 'urlFile', 'urlEnv'] as const;
const DEFAULT_FILE = 'data/database.sqlite';

const SCHEMES: Readonly<Record<ServerProvider, readonly string[]>> = {
  postgres: ['postgres:', 'postgresql:'],
  mysql: ['mysql:', 'mariadb:'],
  mongodb: ['mongodb:', 'mongodb+srv:'],
};

/** Settings of another provider may stay in the file, so that a change of the provider is one line; a warning names them. */
export function readDatabase(database: DatabaseOfFile, place: SecretPlace): DatabaseConfig {
  const { provider, file, poolSize, statementTimeoutMs, causalReads } = database;
  const unused = provider === 'sqlite' ? URL_PLACES.filter((name) => database[name] !== undefined) : ['file' as const];
  for (const name of unused) {
    if (database[name] !== undefined) place.warnings.push(`database.${name} is not used by provider ${provider}`);
  }
  const limits = { poolSize, statementTimeoutMs };
  if (provider === 'sqlite') return { provider, file: resolve(place.folder, file ?? DEFAULT_FILE), ...limits };
  return { provider, url: readUrl(database, provider, place), ...limits, causalReads };
}

function readUrl(database: DatabaseOfFile, provider: ServerProvider, place: SecretPlace): string {
  const given = URL_PLACES.filter((name) => database[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    const got = given.length === 0 ? 'none' : given.join(' and ');
    throw new ConfigError(
      `database: expected exactly one of url, urlFile, urlEnv with provider ${provider}, got ${got}`,
    );
  }
  const url = textAt(name, database[name] as string, place).trim();
  const scheme = SCHEMES[provider].find((candidate) => url.startsWith(`${candidate}//`));
  if (scheme === undefined) {
    throw new ConfigError(
      `database.${name}: must begin with ${SCHEMES[provider][0]}// (this begins ${beginningOf(url)})`,
    );
  }
  if (provider !== 'mongodb' && !isReadableUrl(url)) {
    throw new ConfigError(
      `database.${name}: expected a URL such as ${scheme}//USER:PASSWORD@HOST:PORT/DATABASE, got one that cannot be read; in a password %2F stands for /, %23 for #, %3F for ?, %40 for @ and %25 for %`,
    );
  }
  if (provider !== 'mongodb') checkUrl(url, provider, name);
  return url;
}

/** @throws ConfigError for a readable URL that says too little, or something that has no effect */
function checkUrl(url: string, provider: 'postgres' | 'mysql', name: string): void {
  if (provider === 'mysql' && urlsOfHosts(url).some((each) => new URL(each).pathname.length < 2)) {
    throw new ConfigError(`database.${name}: expected the name of a database after the host, got none`);
  }
  const fault = faultOfServerUrl(provider, url);
  if (fault !== null) throw new ConfigError(`database.${name}: ${fault}`);
}

/** Only a scheme is shown: anything else may be a password. */
function beginningOf(url: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]{0,19}:\/\//i.exec(url) ?? [];
  return scheme === undefined ? 'with another text' : `with ${scheme}`;
}

/** Whether a URL can be read, once for each of its hosts. Drivers take its parts without their `%` escapes. */
export function isReadableUrl(url: string): boolean {
  try {
    for (const each of urlsOfHosts(url)) {
      const { username, password, pathname } = new URL(each);
      decodeURIComponent(`${username}${password}${pathname}`);
    }
    return true;
  } catch {
    return false;
  }
}

function textAt(name: (typeof URL_PLACES)[number], value: string, place: SecretPlace): string {
  if (name === 'url') return value;
  if (name === 'urlEnv') {
    const text = place.environment[value];
    if (text === undefined) throw new ConfigError('database.urlEnv: expected a variable that is set, got none');
    return text;
  }
  return readSmallFile(value, 'database.urlFile', place);
}
