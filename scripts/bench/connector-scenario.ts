import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipBundle } from '../build/shipped-bundles.ts';
import { THINGS } from './payloads.ts';
import { start } from './processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ConnectorResult {
  readonly callsPerSecond: number;
  readonly errors: number;
  readonly tickP99Ms: number;
  readonly tickMaxMs: number;
  readonly cpuMsPerCall: number;
}

/** A game server of its own: the connector as it is shipped, and the bundle that keeps it busy. */
function makeServer(folder: string, port: number): string {
  const root = join(folder, 'server');
  cpSync(join(ROOT, 'dist/db_connector'), join(root, 'bundles/db_connector'), { recursive: true });
  shipBundle(join(ROOT, 'scripts/bench/connector_load'), join(root, 'bundles/connector_load'));
  const settings = {
    url: `http://127.0.0.1:${port}`,
    keyId: 'local',
    secretFile: 'secrets/local.secret',
    namespaces: ['bench'],
    maxConcurrent: 64,
  };
  writeFileSync(join(folder, 'database.json'), JSON.stringify(settings));
  return root;
}

export async function measureConnector(folder: string, port: number, seconds: number): Promise<ConnectorResult> {
  process.env.BENCH_SECONDS = String(seconds);
  process.env.BENCH_ROWS = String(THINGS);
  const server = start(
    ['dist/standalone/main.js', '--root', makeServer(folder, port), '--vfs', folder],
    join(folder, 'server.log'),
  );
  try {
    return await server.until((line) => {
      if (line.includes('BENCH failed')) throw new Error(line);
      const json = /BENCH (\{.*\})/.exec(line)?.[1];
      return json === undefined ? null : (JSON.parse(json) as ConnectorResult);
    });
  } finally {
    await server.stop();
  }
}
