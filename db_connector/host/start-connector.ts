import { Connector } from '../calls/connector.ts';
import { SYSTEM_TIMERS } from '../client/timers.ts';
import { UndiciTransport } from '../client/transport.ts';
import { dbHealth } from '../commands/db-health.ts';
import { dbReload, loadInto } from '../commands/db-reload.ts';
import { dbStatus } from '../commands/db-status.ts';
import type { Host } from './host.ts';

/**
 * Brings the connector up on any host. The exports stand at once; the clock is set in the background, and a broken
 * configuration is a line on the console and `not_configured` for every call.
 *
 * @returns stops it: sockets, timers and calls are ended in the call itself
 */
export function startConnector(host: Host, timers = SYSTEM_TIMERS): () => Promise<void> {
  const log = (line: string) => host.log(line);
  const connector = new Connector({
    timers,
    bytes: host.bytes,
    log,
    openTransport: (configuration) => new UndiciTransport(configuration, timers),
  });
  const source = { file: host.configFile, storedSecret: () => host.storedSecret() };
  host.registerExport('Call', (question, caller) => connector.call(question, caller));
  host.registerExport('TakeResult', (question, caller) => connector.takeResult(question, caller));
  for (const command of [dbStatus(connector), dbHealth(connector, timers), dbReload(connector, source)]) {
    host.registerCommand(command);
  }
  void loadInto(connector, source, log);
  return () => connector.stop();
}
