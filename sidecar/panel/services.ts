import { join } from 'node:path';
import { Log } from '../log.ts';
import { AccountStore } from './accounts/account-store.ts';
import { Accounts } from './accounts/accounts.ts';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { Login } from './accounts/login.ts';
import { PasswordHasher } from './accounts/password-hasher.ts';
import { Sessions } from './accounts/sessions.ts';
import { AuditLog } from './audit/audit-log.ts';
import { Bridge } from './bridge/bridge.ts';
import { SessionReader } from './http/session-reader.ts';
import type { PanelBase } from './panel-base.ts';
import { VERSION } from './program-folder.ts';
import { PanelSettings, type SettingValues } from './settings/panel-settings.ts';
import type { PanelStore } from './store/panel-store.ts';

const LOGIN_ATTEMPTS = 10;

export interface ServicesStart {
  readonly preset: Partial<SettingValues>;
  /** Of the standalone server that `preset` names; null: `vfs` in its folder. */
  readonly serverVfs: string | null;
}

/** The parts of the panel, put together: each knows the ones before it by its constructor, and nothing of HTTP. */
export function createServices(base: PanelBase, store: PanelStore, { preset }: ServicesStart) {
  const { config, now } = base;
  const log = new Log(base.log);
  const settings = new PanelSettings(store, preset);
  const audit = new AuditLog(store, now);
  const people = createAccounts(store, now, audit);
  const logFolder = join(config.folder, 'logs');
  const bridge = new Bridge({ store, settings, logFolder, host: config.panel.bridgeHost, log, now });
  return {
    ...people,
    ...{ base, store, log, settings, audit, bridge },
    version: VERSION,
    isSecure: config.panel.publicUrl?.startsWith('https:') ?? false,
  };
}

export type PanelServices = ReturnType<typeof createServices>;

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
  return { accounts, hasher, sessions, login, sessionReader: new SessionReader(accountStore, sessions) };
}
