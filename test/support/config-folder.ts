import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sections of sidecar.json; what is given here replaces single properties of the default test configuration. */
export type ConfigChanges = Record<string, unknown>;

/** A fixed secret for each key: enough for tests, and no state to hand around. */
export function secretOf(kid: string): string {
  return `secret-of-${kid}-`.padEnd(43, 'x');
}

/** A key of sidecar.json for `config.keys`, with its secret inline. */
export function keyOf(kid: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kid, secret: secretOf(kid), operations: ['*'], namespaces: ['*'], allowUnfilteredWrites: true, ...changes };
}

/** Limits for tests that judge no limit: the first call of a new process starts a thread, for which a busy machine takes seconds. */
export const PATIENT = {
  api: { requestTimeoutMs: 120_000 },
  database: { statementTimeoutMs: 90_000 },
} satisfies ConfigChanges;

const DATABASE_IN_FOLDER = { provider: 'sqlite', file: 'data/database.sqlite' };

/** Writes `<folder>/sidecar.json`: port 0, a database in the folder or the given one, one key `local`. */
export function writeConfig(
  folder: string,
  changes: ConfigChanges = {},
  database: object = DATABASE_IN_FOLDER,
): string {
  const config: Record<string, unknown> = {
    api: { port: 0 },
    panel: { enabled: false, port: 0, bridgeHost: '127.0.0.1' },
    database,
    keys: [keyOf('local')],
  };
  for (const [name, value] of Object.entries(changes)) {
    const isSection = typeof value === 'object' && value !== null && !Array.isArray(value);
    config[name] = isSection ? { ...(config[name] as object | undefined), ...value } : value;
  }
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'sidecar.json');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

/** A nonce, a secret or a name that no other test uses. */
export function unique(prefix = 'x'): string {
  return `${prefix}${randomBytes(6).toString('hex')}`;
}
