import { join } from 'node:path';
import { Log } from '../log.ts';
import { type BridgeLog, openBridgeLog } from './bridge/bridge-log.ts';
import { ALL_LOGS_BYTES, type ConsoleLog, LOG_AGE_MS, MEGABYTE, openConsoleLog } from './console/console-log.ts';
import { KeptSink, keepLine, openSidecarLog, SIDECAR_LOG_BYTES, type SidecarLog } from './console/sidecar-log.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelSettings } from './settings/panel-settings.ts';

/** Room of the console, however much the bridge may take. */
const LEAST_CONSOLE_BYTES = 128 * MEGABYTE;

export interface PanelLogs {
  /** Folder of all logs. */
  readonly folder: string;
  readonly console: ConsoleLog;
  readonly sidecar: SidecarLog;
  readonly bridge: BridgeLog;
  /** Log of the panel, which is stored too. */
  readonly log: Log;
  /** Called with each line of the API's log. */
  onApiLine(listener: (line: string) => void): void;
  close(): Promise<void>;
}

/** Opens the logs that the panel stores. They share one bound: room for the bridge reduces the console's. */
export async function openPanelLogs(base: PanelBase, settings: PanelSettings): Promise<PanelLogs> {
  const { now } = base;
  const folder = join(base.config.folder, 'logs');
  const onTrouble = (message: string) => log.warn(message, { service: 'panel' });
  const sidecar = await openSidecarLog({ folder: join(folder, 'sidecar'), now, onTrouble });
  const log = new Log(new KeptSink(base.log, sidecar, 'panel'), now);
  const console = await openConsoleLog({
    ...{ folder: join(folder, 'console'), now, onTrouble },
    retention: () => ({ maxAgeMs: LOG_AGE_MS, maxBytes: consoleBytes(settings) }),
  });
  const bridge = await openBridgeLog({ folder: join(folder, 'bridge'), now, onTrouble }, settings);
  const listeners: ((line: string) => void)[] = [];
  base.apiLog?.onLine((line) => {
    keepLine(sidecar, 'api', line);
    for (const listener of listeners) listener(line);
  });
  const onApiLine = (listener: (line: string) => void) => void listeners.push(listener);
  const close = async () => {
    base.apiLog?.onLine(null);
    await bridge.close();
    await console.close();
    await sidecar.close();
  };
  return { folder, console, sidecar, bridge, log, onApiLine, close };
}

function consoleBytes(settings: PanelSettings): number {
  const bridgeBytes = settings.values.bridge.maxMegabytes * MEGABYTE;
  return Math.max(LEAST_CONSOLE_BYTES, ALL_LOGS_BYTES - SIDECAR_LOG_BYTES - bridgeBytes);
}
