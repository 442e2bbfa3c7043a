import { dirname, join } from 'node:path';
import { replaceFile } from '../config/new-file.ts';
import type { Log } from '../log.ts';
import { VERSION } from '../program-folder.ts';
import type { Accounts } from './accounts/accounts.ts';
import { AuditLog } from './audit/audit-log.ts';
import { defineBackupJobs } from './backups/backup-jobs.ts';
import { Backups } from './backups/backups.ts';
import { Bridge } from './bridge/bridge.ts';
import { BridgeDiagnostics } from './bridge/bridge-log.ts';
import { BundleMarks } from './bundles/bundle-marks.ts';
import { Bundles } from './bundles/bundles.ts';
import { OwnTags } from './bundles/own-tags.ts';
import { Charts, type WatchedServer } from './charts/charts.ts';
import { ServerDiagnostics } from './console/console-log.ts';
import { Diagnostics } from './console/diagnostics.ts';
import { SidecarDiagnostics } from './console/sidecar-log.ts';
import { createAccounts } from './create-accounts.ts';
import { createGameServer } from './create-game-server.ts';
import { createNotices, followNews } from './create-notices.ts';
import { createSchedule } from './create-schedule.ts';
import { createSources } from './create-sources.ts';
import { createTrash } from './create-trash.ts';
import { createDatabase } from './database/create-database.ts';
import { EventHub } from './events/event-hub.ts';
import { ConnectorOffer } from './installs/connector-offer.ts';
import { createInstalls } from './installs/create-installs.ts';
import { createJobs } from './jobs/create-jobs.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelLogs } from './panel-logs.ts';
import { SecretBox } from './secret-box.ts';
import type { GameServer } from './server/game-server.ts';
import { ServerUpdatesDesk, type ServerUpdatesOptions } from './server-updates/server-updates.ts';
import { ServerVersions } from './server-updates/server-versions.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import { ServerConfig } from './settings/server-config.ts';
import { ServerPath } from './settings/server-path.ts';
import { reservedFolders } from './settings/server-root.ts';
import { Setup } from './setup/setup.ts';
import { findShippedFiles } from './setup/shipped-files.ts';
import type { ServerStatus } from './shapes/server.ts';
import type { PanelStore } from './store/panel-store.ts';
import { StoreTrouble } from './store-trouble.ts';
import { PanelUpdatesDesk, type PanelUpdatesOptions } from './updates/panel-updates.ts';
import { defineUpdateJobs } from './updates/update-jobs.ts';
import { createUploads } from './uploads/create-uploads.ts';

export interface ServicesStart {
  readonly settings: PanelSettings;
  readonly logs: PanelLogs;
  /** Configuration folder of the preset standalone server; null: `vfs` in its folder. */
  readonly serverVfs: string | null;
  readonly serverPid: number | null;
}

/** Puts the panel's services together: each gets earlier ones by its constructor, and knows no HTTP. */
export function createServices(base: PanelBase, store: PanelStore, start: ServicesStart) {
  const { settings, logs } = start;
  const { config, now, monotonicNow } = base;
  const { log } = logs;
  const trouble = new StoreTrouble(store, config.panel.data, log);
  const audit = new AuditLog({
    ...{ store, now },
    onTrouble: (error) => trouble.tell(error, 'the audit log could not be written'),
  });
  const box = new SecretBox(join(config.folder, 'secrets/panel.key'));
  const people = createAccounts({ store, trouble, base, audit, settings, box });
  const { bridgeHost } = config.panel;
  const bridge = new Bridge({ store, settings, lines: logs.bridge, host: bridgeHost, log, now, monotonicNow });
  const server = createGameServer({ base, store, trouble, audit, ...start });
  const status = () => server.control.status();
  const serverConfig = new ServerConfig({ settings, store, now, replaceFile });
  const notices = createNotices({ base, store, box, trouble, settings, serverConfig, logs });
  const bundleMarks = new BundleMarks({ settings, serverConfig, tags: new OwnTags(store), replaceFile });
  const bundles = new Bundles({ server: server.control, settings, marks: bundleMarks });
  const watchers = createWatchers(base, { store, trouble, log, server: server.control, serverPid: start.serverPid });
  const events = createEvents({ logs, people, server, watchers, trouble, now });
  bundles.onChange((list) => events.publish('bundles', list, 'bundles.read'));
  const jobs = createJobs({ store, trouble, settings, accounts: people.accounts, folder: toolsFolder(config), now });
  jobs.onChange((job, access) => events.publishJob(job, access));
  const updates = createUpdates({ base, store, settings, jobs, serverStatus: status });
  defineBackupJobs(jobs, base.backups);
  const backups = new Backups(base.backups, jobs);
  const quarantined = async () => (await watchers.quarantineDesk.read()).objects;
  const installing = { store, trouble, settings, bundles, jobs, quarantined, now };
  const { installs, gates } = createInstalls({ ...installing, server: server.control, console: logs.console });
  const { connector: shipped } = findShippedFiles();
  const connectorOffer = new ConnectorOffer({ installs, shipped, version: VERSION });
  jobs.define(connectorOffer.job);
  const sources = createSources({ base, store, settings, jobs, installs, folder: toolsFolder(config) });
  const schedule = createSchedule({
    ...{ store, trouble, settings, jobs, gates, audit, now, backups: base.backups },
    ...{ server: server.control, console: logs.console, notices },
  });
  schedule.onChange(() => events.publish('schedule', { next: schedule.next() }));
  events.greet('schedule', () => ({ next: schedule.next() }));
  const upkeep = followNews({
    ...{ base, store, notices, logs, server, trouble, events, audit, people, jobs, updates },
    ...watchers,
  });
  const uploads = createUploads({ store, installs, bundles, jobs, now, folder: toolsFolder(config) });
  return {
    ...people,
    ...{
      base,
      store,
      trouble,
      log,
      logs,
      settings,
      audit,
      events,
      bridge,
      server,
      bundles,
      bundleMarks,
      jobs,
      installs,
      gates,
      schedule,
      notices,
      upkeep,
      uploads,
      connectorOffer,
    },
    ...{ serverConfig, backups },
    ...sources,
    ...createTrash({
      ...sources,
      ...watchers,
      store,
      trouble,
      settings,
      server: server.control,
      bundles,
      bundleMarks,
      jobs,
      now,
    }),
    ...watchers,
    ...createOwnerServices({ base, log, settings, accounts: people.accounts, status }),
    diagnostics: new Diagnostics([
      new ServerDiagnostics(logs.console),
      new SidecarDiagnostics(logs.sidecar),
      new BridgeDiagnostics(logs.bridge),
    ]),
    updates,
    ...createServerUpdates({ settings, jobs, server: server.control, now }),
    version: VERSION,
    isSecure: config.panel.publicUrl?.startsWith('https:') ?? false,
  };
}

/** Files of the bundle tools, beside `panel.sqlite`. */
function toolsFolder({ panel }: PanelBase['config']): string {
  return join(dirname(panel.data), 'bundle-tools');
}

function createServerUpdates({ now, ...parts }: ServerUpdateParts) {
  const versions = new ServerVersions({ ...parts, now });
  parts.server.onStart(() => versions.beforeStart());
  parts.server.onStatus((status) => versions.follow(status));
  return { serverVersions: versions, serverUpdates: new ServerUpdatesDesk({ ...parts, versions }) };
}

interface ServerUpdateParts extends Omit<ServerUpdatesOptions, 'versions' | 'server'> {
  readonly server: GameServer['control'];
  readonly now: () => number;
}

interface UpdateParts extends Pick<PanelUpdatesOptions, 'store' | 'settings' | 'jobs' | 'serverStatus'> {
  readonly base: PanelBase;
}

function createUpdates({ base, ...parts }: UpdateParts): PanelUpdatesDesk {
  const { config, now, keeper = null, isEmbedded = false } = base;
  const desk = new PanelUpdatesDesk({ ...parts, config, now, keeper, isEmbedded });
  defineUpdateJobs(parts.jobs, { desk, config, store: parts.store });
  return desk;
}

export type PanelServices = ReturnType<typeof createServices>;

interface EventParts {
  readonly logs: PanelLogs;
  readonly people: ReturnType<typeof createAccounts>;
  readonly server: GameServer;
  readonly watchers: ReturnType<typeof createWatchers>;
  readonly trouble: StoreTrouble;
  readonly now: () => number;
}

function createEvents({ logs, people, server, watchers, trouble, now }: EventParts): EventHub {
  const { accounts, sessions, tokens } = people;
  const { control } = server;
  const { health } = watchers;
  const events = new EventHub({
    ...{ console: logs.console, now },
    status: () => control.status(),
    databaseTrouble: () => health.trouble,
    isOpen: (reader) => trouble.attempt(() => people.isOpen(reader), true),
  });
  control.onStatus((status) => events.publish('status', status));
  health.onChange((now) => events.publish('health', now));
  sessions.onEnded(({ sessionIds, reason }) => events.endSessions(sessionIds, reason));
  tokens.onEnded(({ tokenIds, reason }) => events.endTokens(tokenIds, reason));
  accounts.onPermissionsChanged(({ accountId, permissions }) => events.changePermissions(accountId, permissions));
  return events;
}

interface WatcherParts {
  readonly store: PanelStore;
  readonly trouble: StoreTrouble;
  readonly log: Log;
  readonly server: WatchedServer;
  /** Process id of a game server that the panel does not run. */
  readonly serverPid: number | null;
}

/** Services that watch the database, the API and the game server. `charts` and `keyUse` close before the store. */
function createWatchers(base: PanelBase, { store, trouble, log, server, serverPid }: WatcherParts) {
  const { config, calls, now } = base;
  const onTrouble = (error: unknown) => trouble.tell(error, 'charts and the last use of keys have gaps');
  const charts = new Charts({ store, now, server, serverPid, onTrouble });
  calls.onCall(({ ms, code }) => charts.countCall(ms, code !== 'ok'));
  return {
    charts,
    ...createDatabase({
      ...base,
      ...{ store, onTrouble },
      keys: config.keys,
      importFolder: join(dirname(config.panel.data), 'row-imports'),
      extend: base.handlers['schema.extend'],
      removed: config.schema.removed,
      maxPending: config.writeBehind.maxPending,
      statementTimeoutMs: config.database.statementTimeoutMs,
      log: (level, message, fields) => log[level](message, fields),
    }),
  };
}

interface OwnerBase {
  readonly base: Pick<PanelBase, 'config' | 'apiAddress'>;
  readonly log: Log;
  readonly settings: PanelSettings;
  readonly accounts: Accounts;
  /** Status of the game server. */
  readonly status: () => ServerStatus;
}

/** Services for the owner's settings, at the first start and later. */
function createOwnerServices({ base, log, settings, accounts, status }: OwnerBase) {
  const { config, apiAddress } = base;
  const { backend, serverRoot } = settings.preset;
  const preset = backend === undefined || serverRoot === undefined ? null : { backend, serverRoot };
  return {
    setup: new Setup({ config, accounts, settings, preset, log, apiAddress }),
    serverPath: new ServerPath({ settings, status, reserved: reservedFolders(config.folder) }),
  };
}
