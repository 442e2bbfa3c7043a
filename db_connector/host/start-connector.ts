import { Connector } from '../calls/connector.ts';
import { Exports } from '../calls/exports.ts';
import { NETWORK_DENIED } from '../client/exchange.ts';
import { SYSTEM_TIMERS, type Timers } from '../client/timers.ts';
import { dbHealth } from '../commands/db-health.ts';
import { dbReload } from '../commands/db-reload.ts';
import { dbStatus } from '../commands/db-status.ts';
import type { Say } from '../config/say.ts';
import { ConfigurationLoader } from '../embedded/configuration-loader.ts';
import { LinkOpener } from '../worker/link-opener.ts';
import type { Host } from './host.ts';

/**
 * Brings the connector up on any host. The exports stand at once; the clock is set in the background, and a broken
 * configuration is a line on the console and `not_configured` for every call.
 *
 * @returns stops it: sockets, timers and calls are ended in the call itself
 */
export function startConnector(host: Host, timers = SYSTEM_TIMERS): () => Promise<void> {
  const log = withNetworkHint(host.log, host.networkHint);
  const links = new LinkOpener(host.worker, timers, log);
  const connector = new Connector({ timers, log, openLinks: (configuration) => links.open(configuration) });
  const source = { ...host, file: host.configFile };
  const loader = new ConfigurationLoader({ connector, source, place: host.embedded, timers, log });
  const stop = async () => void (await Promise.all([connector.stop(), loader.stop()]));
  const exports = new Exports(connector, host.bytes);
  host.registerExport('Call', (question, caller) => exports.call(question, caller));
  host.registerExport('TakeResult', (question, caller) => exports.takeResult(question, caller));
  host.registerExport('CallMany', (questions, caller) => exports.callMany(questions, caller));
  host.registerExport('TakeMany', (ids, caller) => exports.takeMany(ids, caller));
  host.registerExport('ClockOffset', () => connector.clockOffset());
  for (const command of [
    dbStatus(connector, timers),
    dbHealth(connector, timers),
    dbReload((say) => loader.load(say)),
  ]) {
    host.registerCommand(command);
  }
  host.onCallerStopped((caller) => connector.forget(caller));
  host.onShutdown((delayMs) => announceShutdown(connector, timers, log, delayMs));
  host.onStop(() => void stop());
  void loader.load(log);
  return stop;
}

/** The first line about a refused connection is followed by the way out. */
function withNetworkHint(log: Say, hint: string): Say {
  let hasTold = false;
  return (line, tone) => {
    log(line, tone);
    if (hasTold || !line.includes(NETWORK_DENIED)) return;
    hasTold = true;
    log(hint, 'bad');
  };
}

/**
 * Other bundles save when they hear of the same announcement, and they may hear of it later. So new calls are refused
 * only from half of the time on; the other half is for what waits (contract section 8, "Stop").
 */
function announceShutdown(connector: Connector, timers: Timers, log: Say, delayMs: number): void {
  log(
    `the server stops in ${Math.round(delayMs / 1000)} s: new calls are taken for half of that, what waits goes out`,
    'warning',
  );
  timers.after(delayMs / 2, () => connector.refuseNew('the server is shutting down'));
}
