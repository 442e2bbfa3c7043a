import { AccountStore } from './accounts/account-store.ts';
import { Accounts } from './accounts/accounts.ts';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { Login } from './accounts/login.ts';
import { PasswordHasher } from './accounts/password-hasher.ts';
import { Sessions } from './accounts/sessions.ts';
import { AuditLog } from './audit/audit-log.ts';
import { Bridge } from './bridge/bridge.ts';
import { BridgeDiagnostics } from './bridge/bridge-log.ts';
import { Diagnostics } from './console/diagnostics.ts';
import { ServerDiagnostics } from './console/server-diagnostics.ts';
import { SidecarDiagnostics } from './console/sidecar-log.ts';
import { createOwnerServices } from './create-owner-services.ts';
import { EventHub } from './events/event-hub.ts';
import { SessionReader } from './http/session-reader.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelLogs } from './panel-logs.ts';
import { VERSION } from './program-folder.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { ServerStatus } from './shapes/server.ts';
import type { PanelStore } from './store/panel-store.ts';

const LOGIN_ATTEMPTS = 10;

export interface ServicesStart {
  readonly settings: PanelSettings;
  readonly logs: PanelLogs;
  /** Of the standalone server that `preset` names; null: `vfs` in its folder. */
  readonly serverVfs: string | null;
}

/** The parts of the panel, put together: each knows the ones before it by its constructor, and nothing of HTTP. */
export function createServices(base: PanelBase, store: PanelStore, { settings, logs }: ServicesStart) {
  const { config, now } = base;
  const { log } = logs;
  const audit = new AuditLog(store, now);
  const people = createAccounts(store, now, audit);
  const { bridgeHost } = config.panel;
  const bridge = new Bridge({ store, settings, lines: logs.bridge, host: bridgeHost, log, now });
  const status = (): ServerStatus => stoppedServer(settings);
  const events = createEvents(logs, people, status, now);
  return {
    ...people,
    ...{ base, store, log, logs, settings, audit, events, bridge },
    ...createOwnerServices({ base, store, log, settings, accounts: people.accounts, status }),
    diagnostics: new Diagnostics([
      new ServerDiagnostics(logs.console),
      new SidecarDiagnostics(logs.sidecar),
      new BridgeDiagnostics(logs.bridge),
    ]),
    version: VERSION,
    isSecure: config.panel.publicUrl?.startsWith('https:') ?? false,
  };
}

export type PanelServices = ReturnType<typeof createServices>;

function createEvents(
  { console }: PanelLogs,
  { accounts, sessions }: ReturnType<typeof createAccounts>,
  status: () => ServerStatus,
  now: () => number,
): EventHub {
  const events = new EventHub({ console, status, now });
  sessions.onEnded(({ sessionIds, reason }) => events.endSessions(sessionIds, reason));
  accounts.onPermissionsChanged(({ accountId, permissions }) => events.changePermissions(accountId, permissions));
  return events;
}

/** Until there is server control. */
function stoppedServer(settings: PanelSettings): ServerStatus {
  const { backend, serverRoot } = settings.values;
  const nothing = { pid: null, startedAt: null, exit: null, plan: null, hungSince: null, gaveUp: null };
  return { state: 'stopped', serverRoot, backend, ...nothing };
}

function createAccounts(store: PanelStore, now: () => number, audit: AuditLog) {
  const accountStore = new AccountStore(store);
  const hasher = new PasswordHasher();
  const sessions = new Sessions(store, now);
  const accounts = new Accounts({ store: accountStore, hasher, sessions });
  const limit = new AttemptLimit(LOGIN_ATTEMPTS, now);
  const login = new Login({
    ...{ store: accountStore, hasher, sessions, limit },
    onAttempt: (attempt) => audit.write({ ...attempt, action: 'login', subject: '' }),
  });
  return {
    accounts,
    hasher,
    sessions,
    login,
    loginLimit: limit,
    sessionReader: new SessionReader(accountStore, sessions),
  };
}
