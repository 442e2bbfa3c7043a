import { replaceFile } from '../config/new-file.ts';
import type { Log } from '../log.ts';
import type { Accounts } from './accounts/accounts.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import { ServerConfig } from './settings/server-config.ts';
import { ServerPath } from './settings/server-path.ts';
import { reservedFolders } from './settings/server-root.ts';
import { Setup } from './setup/setup.ts';
import type { ServerStatus } from './shapes/server.ts';
import type { PanelStore } from './store/panel-store.ts';

interface OwnerBase {
  readonly base: Pick<PanelBase, 'config' | 'now' | 'apiAddress'>;
  readonly store: PanelStore;
  readonly log: Log;
  readonly settings: PanelSettings;
  readonly accounts: Accounts;
  /** Of the game server. */
  readonly status: () => ServerStatus;
}

/** What the owner tells the panel, at the first start and later. */
export function createOwnerServices({ base, store, log, settings, accounts, status }: OwnerBase) {
  const { config, now, apiAddress } = base;
  const { backend, serverRoot } = settings.preset;
  const preset = backend === undefined || serverRoot === undefined ? null : { backend, serverRoot };
  return {
    setup: new Setup({ config, accounts, settings, preset, log, apiAddress }),
    serverConfig: new ServerConfig({ settings, store, now, replaceFile }),
    serverPath: new ServerPath({ settings, status, reserved: reservedFolders(config.folder) }),
  };
}
