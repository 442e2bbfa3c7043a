import type { Neighbour, Neighbours } from '../cluster/neighbours.ts';
import type { DatabaseCheck } from '../data/database-check.ts';
import type { WriteBufferHealth } from '../data/write-queue.ts';
import type { Engine } from '../engine/engine.ts';

export interface HealthOptions {
  readonly engine: Pick<Engine, 'provider' | 'capabilities'>;
  readonly database: DatabaseCheck;
  /** Undefined if write-behind is off. */
  readonly writeBuffer: () => WriteBufferHealth | undefined;
  /** Undefined without backups. */
  readonly backup: () => object | undefined;
  /** Other sidecars of the database; undefined if this one is not announced. */
  readonly neighbours: Pick<Neighbours, 'instance' | 'others'> | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Makes the handler of the operation `health`: HealthResult as JSON text. Degraded is also a service whose queue cannot go on.
 * Connectors set their clocks by its signed `time`.
 */
export function createHealthHandler(options: HealthOptions): () => Promise<string> {
  const { neighbours } = options;
  const { provider, capabilities } = options.engine;
  const { transactions, filterableJson } = capabilities;
  return async () => {
    const { isReachable: database, obstacle } = await options.database.look();
    const writeBuffer = options.writeBuffer();
    const isWell =
      database && obstacle === null && (writeBuffer === undefined || (writeBuffer.available && !writeBuffer.halted));
    return JSON.stringify({
      status: isWell ? 'ok' : 'degraded',
      provider,
      database,
      ...(obstacle === null ? {} : { takesNoWrites: obstacle }),
      capabilities: { transactions, filterableJson },
      backup: options.backup(),
      writeBuffer,
      ...(neighbours && { instance: neighbours.instance, sidecars: neighbours.others().map(sidecarOf) }),
      time: Math.floor(options.now() / 1000),
    });
  };
}

function sidecarOf({ instance, box, url, version, seenAt, isAlive }: Neighbour): object {
  return { instance, box, url, version, seenAt: new Date(seenAt).toISOString(), isAlive };
}
