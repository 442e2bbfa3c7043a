import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { listenOnPort, urlOf } from '../http/listen.ts';
import { RequestLog } from '../http/request-log.ts';
import { PAGES_FILE } from '../program-folder.ts';
import { ClientReader } from '../security/client.ts';
import { createApp, panelRoutes } from './app.ts';
import { Guards } from './http/guards.ts';
import { HostRule } from './http/host-rule.ts';
import type { PanelRoute } from './http/route.ts';
import { StaticPages } from './http/static-pages.ts';
import type { PanelBase } from './panel-base.ts';
import { openPanelLogs } from './panel-logs.ts';
import { createServices, type PanelServices } from './services.ts';
import { PanelSettings, type SettingValues } from './settings/panel-settings.ts';
import { claimStore, openPanelStore } from './store/panel-store.ts';
import { StoreFault, storeFaultOf } from './store/store-fault.ts';
import { putBackPanelCopy } from './updates/panel-copy.ts';

export { StoreFault } from './store/store-fault.ts';

export interface PanelOptions extends PanelBase {
  /** Presets of this start for settings that the owner has not set. */
  readonly preset?: Partial<SettingValues>;
  /** Configuration folder of the preset standalone server; by default `vfs` in the server's folder. */
  readonly serverVfs?: string;
  /** Process id of a game server that the panel does not run, if known. */
  readonly serverPid?: number;
}

export interface RunningPanel {
  /** `http://127.0.0.1:20772` */
  readonly address: string;
  readonly services: PanelServices;
  readonly routes: readonly PanelRoute[];
  /** Call once the sidecar serves: starts the bridge and the game server. */
  begin(): Promise<void>;
  /** @param keepsServer the game server runs on, for the sidecar after this one */
  stop(keepsServer?: boolean): Promise<void>;
}

/** No slow requests: some actions take seconds by their nature, such as a sign-in. */
const PANEL_LINES = { message: 'panel request', slowMs: Number.POSITIVE_INFINITY };
/** Wait for running answers. */
const STOP_MS = 3000;

type End = () => unknown;

/**
 * Starts the panel over a running sidecar: everything from its accounts to the listening socket.
 *
 * @throws StoreFault if its file cannot be used; Error with one line for the owner
 */
export async function startPanel(options: PanelOptions): Promise<RunningPanel> {
  const ends: End[] = [];
  try {
    return await openPanel(options, ends);
  } catch (error) {
    // The first fault is the one to report.
    await endAll(ends.reverse()).catch(() => {});
    throw storeFaultOf(error, options.config.panel.data) ?? error;
  }
}

/** @param opened receives the end of each part below the services */
async function openPanel(options: PanelOptions, opened: End[]): Promise<RunningPanel> {
  const { preset = {}, serverVfs, serverPid, ...base } = options;
  const { panel } = base.config;
  const claim = await claimStore(panel.data);
  opened.push(() => claim.release());
  const last = base.keeper?.hello.last ?? null;
  const isPutBack = putBackPanelCopy(panel.data, join(base.config.dataFolder, 'updates'), last);
  const store = openPanelStore(panel.data);
  opened.push(() => store.close());
  const settings = new PanelSettings(store, preset);
  const logs = await openPanelLogs(base, settings).catch((error: NodeJS.ErrnoException) => {
    const code = error.code ?? error.message;
    throw new StoreFault(`panel: its log files cannot be opened in ${base.config.folder}/logs: ${code}`, code);
  });
  opened.push(() => logs.close());
  const ofServer = { serverVfs: serverVfs ?? null, serverPid: serverPid ?? null };
  const services = createServices(base, store, { settings, logs, ...ofServer });
  const routes = panelRoutes(services);
  const guards = new Guards({
    clients: new ClientReader(panel.trustedProxies, false),
    sessions: services.sessionReader,
    tokens: services.tokenReader,
    factorRule: services.factorRule,
    audit: services.audit,
    requestLog: new RequestLog(services.log, () => performance.now(), PANEL_LINES),
    trouble: services.trouble,
    updates: services.updates,
  });
  const app = createApp({ routes, pages: new StaticPages(PAGES_FILE), guards });
  const begin = async () => {
    await services.bridge.apply();
    services.installs.recover((id) => services.jobs.hasEnded(id));
    services.beginSources();
    services.uploads.open();
    services.jobs.open();
    await services.trash.begin();
    if (isPutBack) services.log.warn('the copy of panel.sqlite from before the update was put in its place');
    await services.updates.open();
    await services.server.control.open().catch((error) => {
      throw storeFaultOf(error, panel.data) ?? error;
    });
    services.schedule.open();
    services.notices.open();
    services.upkeep.open();
  };
  const stop = (keepsServer = false) => endAll([...endsOf(services, app, keepsServer), ...opened.toReversed()]);
  try {
    const { host } = panel;
    const port = await listenOnPort(app, { field: 'panel.port', host, port: panel.port, file: base.config.file });
    guards.answerTo(new HostRule(panel, port));
    const address = urlOf('http', host, port);
    services.charts.start();
    services.health.start();
    services.log.info('listening', { service: 'panel', address });
    return { address, services, routes, begin, stop };
  } catch (error) {
    opened.push(...endsOf(services, app, false).reverse());
    throw error;
  }
}

/** Ends of the services in order: first the game server, so that its console and its events show its end. */
function endsOf(services: PanelServices, app: FastifyInstance, keepsServer: boolean): End[] {
  return [
    () => services.schedule.close(),
    () => services.updates.close(),
    () => services.serverVersions.close(),
    () => services.jobs.close(),
    () => services.gates.close(),
    () => (keepsServer ? services.server.letGo() : services.server.close()),
    () => services.trash.close(),
    () => services.upkeep.close(),
    () => services.notices.close(),
    () => services.events.close(),
    () => services.bridge.close(),
    () => closeApp(app),
    () => services.setup.close(),
    () => services.charts.close(),
    () => services.keyUse.close(),
    () => services.health.close(),
    () => services.tokens.close(),
    () => services.sessions.close(),
    () => services.audit.close(),
  ];
}

/** Runs all in order, also after a failure. @throws the first fault */
async function endAll(ends: readonly End[]): Promise<void> {
  const faults: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), STOP_MS);
  try {
    const closed = app.close();
    app.server.closeIdleConnections();
    await closed;
  } finally {
    clearTimeout(cutOff);
  }
}
