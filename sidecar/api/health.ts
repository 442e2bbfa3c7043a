import type { Neighbour, Neighbours } from '../cluster/neighbours.ts';
import type { DatabaseCheck } from '../data/database-check.ts';
import type { WriteBufferHealth } from '../data/write-queue.ts';
import type { Engine } from '../engine/engine.ts';

/**
 * Makes the handler of the operation `health`: HealthResult as JSON text, with `writeBuffer` if write-behind is on, and the
 * other sidecars of the database. Degraded is also a service whose queue cannot go on. Connectors set their clocks by its signed `time`.
 *
 * @param now epoch milliseconds
 */
export function createHealthHandler(
  { provider, capabilities }: Pick<Engine, 'provider' | 'capabilities'>,
  check: DatabaseCheck,
  readWriteBuffer: () => WriteBufferHealth | undefined,
  now: () => number,
  readBackup: () => object | undefined = () => undefined,
  neighbours?: Pick<Neighbours, 'instance' | 'others'>,
): () => Promise<string> {
  const { transactions, filterableJson } = capabilities;
  return async () => {
    const { isReachable: database, obstacle } = await check.look();
    const writeBuffer = readWriteBuffer();
    const isWell =
      database && obstacle === null && (writeBuffer === undefined || (writeBuffer.available && !writeBuffer.halted));
    return JSON.stringify({
      status: isWell ? 'ok' : 'degraded',
      provider,
      database,
      ...(obstacle === null ? {} : { takesNoWrites: obstacle }),
      capabilities: { transactions, filterableJson },
      backup: readBackup(),
      writeBuffer,
      ...(neighbours && { instance: neighbours.instance, sidecars: neighbours.others().map(sidecarOf) }),
      time: Math.floor(now() / 1000),
    });
  };
}

function sidecarOf({ instance, box, url, version, seenAt, isAlive }: Neighbour): object {
  return { instance, box, url, version, seenAt: new Date(seenAt).toISOString(), isAlive };
}
