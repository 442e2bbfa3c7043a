import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readConfigFile } from './load-config.ts';

const DEFAULT_PORT = 20771;

const FIRST_KEY = {
  kid: 'local',
  secretFile: 'secrets/local.secret',
  operations: ['*'],
  namespaces: ['*'],
  allowUnfilteredWrites: false,
  addresses: [],
};

/**
 * Makes what is missing (contract section 1): sidecar.json with one key, its secret, a matching database.json; and a
 * `secretFile` that does not exist yet. Nothing existing is overwritten. Returns the files that it made.
 */
export function createMissing(file: string, environment: NodeJS.ProcessEnv): string[] {
  const isFirstStart = !existsSync(file);
  const folder = dirname(resolve(file));
  const made: string[] = [];
  const make = (path: string, text: string) => {
    if (writeNew(path, text)) made.push(path);
  };
  if (isFirstStart) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['secrets', 'data', 'logs']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    make(
      file,
      pretty({
        api: { host: '127.0.0.1', port: DEFAULT_PORT },
        database: { provider: 'sqlite', file: 'data/database.sqlite' },
        keys: [FIRST_KEY],
        writeBehind: { namespaces: { stats: { consistentReads: true } } },
      }),
    );
  }
  const { config } = readConfigFile(file, environment);
  for (const { secretFile } of config.keys) {
    if (secretFile !== undefined) make(resolve(folder, secretFile), `${randomBytes(32).toString('base64url')}\n`);
  }
  if (isFirstStart) {
    const { kid, secretFile } = config.keys[0] as (typeof config.keys)[number];
    make(
      join(folder, 'database.json'),
      pretty({ url: urlOf(config.api), keyId: kid, secretFile, namespaces: ['game', 'stats'] }),
    );
  }
  return made;
}

function urlOf(api: { socketPath: string | null; port: number }): string {
  return api.socketPath === null
    ? `http://127.0.0.1:${api.port === 0 ? DEFAULT_PORT : api.port}`
    : `unix:${api.socketPath}`;
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** False where the file is there already, also when another process made it in this moment. */
function writeNew(path: string, text: string): boolean {
  if (existsSync(path)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
