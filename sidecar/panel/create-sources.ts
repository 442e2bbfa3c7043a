import { join } from 'node:path';
import { Forges } from './forges/forges.ts';
import { readAuthorities } from './network/authorities.ts';
import { HostPolicy } from './network/host-policy.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import { SourceAccounts } from './sources/source-accounts.ts';
import { TokenVault } from './sources/token-vault.ts';
import type { PanelStore } from './store/panel-store.ts';

export interface SourcesBase {
  readonly base: Pick<PanelBase, 'config' | 'now' | 'monotonicNow'>;
  readonly store: PanelStore;
  readonly settings: PanelSettings;
}

/** Services of the bundle tools for everything that comes from elsewhere: accounts, forges, projects. */
export function createSources({ base, store, settings }: SourcesBase) {
  const { config, now, monotonicNow } = base;
  const hosts = new HostPolicy({ settings: () => settings.values.tools });
  const authorities = readAuthorities(config.panel.caFile);
  const sourceAccounts = new SourceAccounts({
    ...{ store, hosts, now },
    vault: new TokenVault(join(config.folder, 'secrets/accounts.key')),
    usersOf: () => [],
  });
  return { sourceAccounts, forges: new Forges({ accounts: sourceAccounts, hosts, authorities, monotonicNow }) };
}
