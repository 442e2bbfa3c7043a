import { existsSync } from 'node:fs';
import { ConfigError } from '../config/config-error.ts';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import type { RevokedKey } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open.ts';
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

const ANSWER_MS = 5000;

/**
 * A database that does not answer, or is not made yet, refuses no name: the start names a revoked key too.
 * @throws ConfigError
 */
export async function refuseRevoked(path: string, kid: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const revoked = await revokedIn(path, environment).catch(() => []);
  const found = revoked.find((one) => one.kid === kid);
  if (found === undefined) return;
  const at = new Date(found.revokedAt).toISOString();
  throw new ConfigError(
    `the key ${kid} was revoked on ${at}: every sidecar of the database refuses it; choose another name`,
  );
}

async function revokedIn(path: string, environment: NodeJS.ProcessEnv): Promise<RevokedKey[]> {
  const { database } = loadConfig(path, environment, true);
  if (database.provider === 'sqlite' && !existsSync(database.file)) return [];
  const settings = { ...database, poolSize: 1, statementTimeoutMs: ANSWER_MS };
  const engine = await openEngine(settings, { log: () => undefined, now: Date.now });
  const bounds = { deadline: performance.now() + ANSWER_MS };
  return engine.cluster.listRevoked(bounds).finally(() => engine.close());
}

/** Names the keys of a configuration that no sidecar of the database accepts. */
export async function tellRevoked(engine: Engine, { keys }: SidecarConfig, { report }: MoveIo): Promise<void> {
  for (const { kid, revokedAt } of await patiently(() => engine.cluster.listRevoked(statementBounds()))) {
    if (!keys.some((key) => key.kid === kid)) continue;
    const advice = 'make one of another name with keys new for game servers that sign with it';
    report.say(`warning: the key ${kid} was revoked on ${new Date(revokedAt).toISOString()} and is refused: ${advice}`);
  }
}
