import { existsSync } from 'node:fs';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import type { CommandIo, MoveIo } from './command-process.ts';
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

/** Names the keys of a configuration that no sidecar of the database accepts. */
export async function tellRevoked(engine: Engine, { keys }: SidecarConfig, { report }: MoveIo): Promise<void> {
  for (const { kid, revokedAt } of await patiently(() => engine.cluster.listRevoked(statementBounds()))) {
    if (!keys.some((key) => key.kid === kid)) continue;
    const advice = 'make one of another name with keys new for game servers that sign with it';
    report.say(`warning: the key ${kid} was revoked on ${new Date(revokedAt).toISOString()} and is refused: ${advice}`);
  }
}
