import type { DatabaseCheck } from './database-check.ts';

/** Makes the handler of the operation `health`: HealthResult as JSON text. `writeBuffer` comes with write-behind. */
export function createHealthHandler(provider: string, check: DatabaseCheck): () => Promise<string> {
  const ok = JSON.stringify({ status: 'ok', provider, database: true });
  const degraded = JSON.stringify({ status: 'degraded', provider, database: false });
  return async () => ((await check.isReachable()) ? ok : degraded);
}
