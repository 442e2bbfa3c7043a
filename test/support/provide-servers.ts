import {
  chosenEngines,
  excludedEngines,
  isServerEngine,
  TESTED_ENGINES,
  urlVariableOf,
} from '#scripts/servers/chosen-engines.ts';
import { startServers } from '#scripts/servers/start-servers.ts';

/**
 * Global set-up of the projects whose tests need servers: those that no TEST_…_URL names yet are started, and ended after the
 * run. Workers find all of them in their environment. Their defaults are hostile, as an owner's server may have them.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const isNarrowed = excludedEngines(process.env).length > 0;
  const engines = (isNarrowed ? chosenEngines(process.env) : TESTED_ENGINES)
    .filter(isServerEngine)
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
