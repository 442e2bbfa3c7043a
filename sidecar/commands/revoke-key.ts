import { existsSync } from 'node:fs';
import { loadConfig } from '../config/load-config.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import type { CommandIo } from './command-process.ts';
import { withEngine } from './with-engine.ts';

/**
 * Writes into the database that no sidecar of it accepts the key. False if there is no database yet.
 * @throws ConfigError if it does not answer
 */
export async function revokeInDatabase(
  path: string,
  kid: string,
  environment: NodeJS.ProcessEnv,
  io: CommandIo,
): Promise<boolean> {
  const { database } = loadConfig(path, environment, true);
  if (database.provider === 'sqlite' && !existsSync(database.file)) return false;
  await withEngine(database, io, (engine) =>
    patiently(() => engine.cluster.revokeKey({ kid, revokedAt: Date.now() }, statementBounds())),
  );
  return true;
}
