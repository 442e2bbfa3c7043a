import type { TestProject } from 'vitest/node';
import {
  chosenEngines,
  excludedEngines,
  isNamedAsProvider,
  isServerEngine,
  TESTED_ENGINES,
  urlVariableOf,
} from '#scripts/servers/chosen-engines.ts';
import { startServers } from '#scripts/servers/start-servers.ts';

/**
 * Global set-up of the projects whose tests need servers: those that no TEST_…_URL names yet are started, and ended after the
 * run. A project of the contract suite needs its own only. Workers find all of them in their environment. Their defaults are
 * hostile, as an owner's server may have them.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { engine: own } = project.config.provide;
  const isNarrowed = excludedEngines(process.env).length > 0;
  const chosen = isNarrowed ? chosenEngines(process.env) : TESTED_ENGINES;
  const engines = chosen
    .filter(isServerEngine)
    .filter((engine) => (own === undefined ? isNamedAsProvider(engine) : engine === own))
    .filter((engine) => process.env[urlVariableOf(engine)] === undefined);
  if (engines.length === 0) return undefined;
  const servers = await startServers({ engines, hostile: true, say: (line) => console.log(line) });
  for (const [engine, reason] of Object.entries(servers.missing)) {
    await servers.stop();
    throw new Error(`${engine} cannot be had: ${reason}. ENGINES narrows the run to others.`);
  }
  for (const engine of engines) process.env[urlVariableOf(engine)] = servers[engine]?.url;
  return () => servers.stop();
}
