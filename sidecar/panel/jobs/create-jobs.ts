import { join } from 'node:path';
import type { Accounts } from '../accounts/accounts.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { JobLogs } from './job-log.ts';
import { JobStore } from './job-store.ts';
import { Jobs } from './jobs.ts';

export interface JobsParts {
  readonly store: PanelStore;
  readonly trouble: Pick<StoreTrouble, 'tell'>;
  readonly settings: PanelSettings;
  readonly accounts: Pick<Accounts, 'byId'>;
  /** `data/bundle-tools` */
  readonly folder: string;
  readonly now: () => number;
}

/** The jobs of this panel, with the rights of its accounts and the switch of its settings. */
export function createJobs({ store, trouble, settings, accounts, folder, now }: JobsParts): Jobs {
  const jobs = new Jobs({
    ...{ now, store: new JobStore(store), logs: new JobLogs(join(folder, 'logs'), now) },
    permissionsOf: (accountId) => {
      const account = accounts.byId(accountId);
      return account?.enabled === true ? account.permissions : null;
    },
    onTrouble: (error) => trouble.tell(error, 'a job could not be written down'),
  });
  settings.onChange((values, before) => {
    if (before.bundleTools && !values.bundleTools) jobs.cancelSwitched('the switch of the bundle tools');
  });
  return jobs;
}
