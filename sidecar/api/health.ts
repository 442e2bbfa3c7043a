import type { DatabaseCheck } from '../data/database-check.ts';
import type { WriteBufferHealth } from '../data/write-queue.ts';
import type { Engine } from '../engine/engine.ts';

/**
 * Makes the handler of the operation `health`: HealthResult as JSON text, with `writeBuffer` where write-behind is on.
 * Degraded is also a service whose queue cannot go on.
 */
export function createHealthHandler(
  { provider, capabilities }: Pick<Engine, 'provider' | 'capabilities'>,
  check: DatabaseCheck,
  readWriteBuffer: () => WriteBufferHealth | undefined,
): () => Promise<string> {
  const { transactions, filterableJson } = capabilities;
  return async () => {
    const database = await check.isReachable();
    const writeBuffer = readWriteBuffer();
    const isWell = database && (writeBuffer === undefined || (writeBuffer.available && !writeBuffer.halted));
    return JSON.stringify({
      status: isWell ? 'ok' : 'degraded',
      provider,
      database,
      capabilities: { transactions, filterableJson },
      writeBuffer,
    });
  };
}
