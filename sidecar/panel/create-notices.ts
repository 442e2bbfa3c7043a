import type { AccountChange } from './accounts/account-rules.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { createAccounts } from './create-accounts.ts';
import type { HealthWatch } from './database/health-watch.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Jobs } from './jobs/jobs.ts';
import { createDeliver } from './notices/deliver.ts';
import { AccountNews } from './notices/news/account-news.ts';
import { backupNewsOf } from './notices/news/backup-news.ts';
import { DatabaseNews } from './notices/news/database-news.ts';
import { jobNewsOf } from './notices/news/job-news.ts';
import { ReleaseNews } from './notices/news/release-news.ts';
import { ServerNews } from './notices/news/server-news.ts';
import { UpkeepNews } from './notices/news/upkeep-news.ts';
import type { News, TellNews } from './notices/news.ts';
import { Notices } from './notices/notices.ts';
import { TargetStore } from './notices/target-store.ts';
import { readAuthorities } from './panel-authorities.ts';
import type { PanelBase } from './panel-base.ts';
import type { PanelLogs } from './panel-logs.ts';
import type { SecretBox } from './secret-box.ts';
import type { GameServer } from './server/game-server.ts';
import { isStartLine } from './settings/config-document.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { ServerConfig } from './settings/server-config.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';
import type { PanelUpdatesDesk } from './updates/panel-updates.ts';

export interface NoticesParts {
  readonly base: PanelBase;
  readonly store: PanelStore;
  readonly box: SecretBox;
  readonly trouble: Pick<StoreTrouble, 'attempt'>;
  readonly settings: PanelSettings;
  readonly serverConfig: Pick<ServerConfig, 'serverName'>;
  readonly logs: PanelLogs;
}

/** Notices without their sources. */
export function createNotices({ base, store, box, trouble, settings, serverConfig, logs }: NoticesParts): Notices {
  const { config, now, monotonicNow } = base;
  const names = () => ({ panel: settings.values.dashboardName, server: serverConfig.serverName });
  const { deliver, originOf } = createDeliver({
    privateHosts: config.panel.notices.privateHosts,
    authorities: readAuthorities(config),
    place: () => ({
      folder: settings.values.serverRoot || config.folder,
      secretVariables: config.secretVariables,
    }),
  });
  return new Notices({
    ...{ targets: new TargetStore(store, box), deliver, names, now, monotonicNow },
    rules: () => ({ locale: settings.values.locale, originOf, isLine: isStartLine }),
    attempt: (work) => trouble.attempt(work, undefined),
    log: (message, fields) => logs.log.warn(message, fields),
  });
}

type People = Pick<ReturnType<typeof createAccounts>, 'accounts' | 'secondFactors'>;

export interface NewsParts extends Pick<NoticesParts, 'base' | 'store' | 'logs' | 'trouble'> {
  readonly server: GameServer;
  readonly notices: Notices;
  readonly events: EventHub;
  readonly audit: AuditLog;
  readonly people: People;
  readonly health: HealthWatch;
  readonly jobs: Jobs;
  readonly updates: PanelUpdatesDesk;
}

/** Connects the notices with what they tell of. Returns what looks by itself. */
export function followNews({ base, store, notices, ...parts }: NewsParts): UpkeepNews {
  const { logs, server, trouble, events, audit, people, health, jobs, updates } = parts;
  const { config, writeBuffer, now } = base;
  const tell: TellNews = (news) => notices.tell(news);
  const tellAny = (news: News | null) => news !== null && tell(news);
  const serverNews = new ServerNews({
    status: server.control.status(),
    lines: (count) => logs.console.latest(count),
    newestCrash: () => trouble.attempt(() => server.crashes.newestId(), null),
    tell,
  });
  server.control.onStatus((status) => serverNews.follow(status));
  const accountNews = new AccountNews({
    addressesOf: (username) => trouble.attempt(() => audit.signInAddresses(username), []),
    ...{ tell, now },
  });
  audit.onNote((note) => {
    if (note.result === 'ok' && note.action.startsWith('server.')) serverNews.acted(note.username);
    if (note.action === 'login') accountNews.followSignIn(note);
  });
  followAccounts(people, (change) => trouble.attempt(() => accountNews.tellChange(change()), undefined));
  const databaseNews = new DatabaseNews(tell);
  health.onChange((now) => databaseNews.follow(now));
  logs.onApiLine((line) => tellAny(backupNewsOf(line)));
  // A job ends once.
  jobs.onChange((job) => tellAny(jobNewsOf(job)));
  const releaseNews = new ReleaseNews({ store, tell });
  updates.onChecked(() => {
    const { newest, staged } = updates.view();
    trouble.attempt(() => releaseNews.follow(newest?.version ?? staged?.version ?? null), undefined);
  });
  notices.onChange(() => events.publish('notices', { targets: notices.list().targets }, 'settings.write'));
  return new UpkeepNews({
    ...{ folder: config.dataFolder, certificate: config.api.tls?.certFile ?? null, tell, now },
    endingKeys: config.keys.flatMap(({ kid, previous }) => (previous === null ? [] : { kid, until: previous.until })),
    deadLetters: () => writeBuffer?.health().deadLetters ?? 0,
  });
}

/** @param tell calls for the change, so that a failed look-up of a name is no failure of the change */
function followAccounts({ accounts, secondFactors }: People, tell: (change: () => AccountChange) => void): void {
  accounts.onChanged((change) => tell(() => change));
  const nameOf = (id: number) => accounts.byId(id)?.username ?? '';
  secondFactors.onChanged(({ accountId, isSet, byId }) =>
    tell(() => ({
      ...{ username: nameOf(accountId), by: nameOf(byId) },
      changes: [isSet ? '+secondFactor' : '-secondFactor'],
    })),
  );
}
