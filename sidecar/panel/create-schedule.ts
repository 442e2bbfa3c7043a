import type { BackupDesk } from '../backup/backup-desk.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { ConsoleLog } from './console/console-log.ts';
import type { StartGates } from './installs/start-gates.ts';
import type { Jobs } from './jobs/jobs.ts';
import { scheduleNewsOf } from './notices/news/schedule-news.ts';
import type { Notices } from './notices/notices.ts';
import { EntryStore } from './schedule/entry-store.ts';
import { type Announcement, Schedule } from './schedule/schedule.ts';
import type { ServerControl } from './server/control.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';

export interface ScheduleParts {
  readonly store: PanelStore;
  readonly trouble: Pick<StoreTrouble, 'attempt'>;
  readonly settings: PanelSettings;
  readonly server: ServerControl;
  readonly jobs: Pick<Jobs, 'isIdle'>;
  readonly gates: Pick<StartGates, 'isOpen'>;
  readonly backups: Pick<BackupDesk, 'make' | 'isBusy'>;
  readonly audit: Pick<AuditLog, 'write'>;
  readonly console: Pick<ConsoleLog, 'append'>;
  readonly notices: Pick<Notices, 'tell'>;
  readonly now: () => number;
}

/** Work by the clock, and what it waits for. */
export function createSchedule({
  store,
  trouble,
  jobs,
  gates,
  backups,
  audit,
  console,
  notices,
  ...parts
}: ScheduleParts): Schedule {
  return new Schedule({
    ...parts,
    entries: new EntryStore(store),
    attempt: (work) => trouble.attempt(work, undefined),
    waitsFor: () => {
      if (gates.isOpen) return 'gate';
      if (backups.isBusy) return 'backup';
      return jobs.isIdle ? null : 'job';
    },
    backup: async () => {
      await backups.make();
    },
    onRun: (name, result) =>
      audit.write({ username: '', action: 'schedule.run', subject: name, address: 'schedule', result, token: '' }),
    announce: (announcement) => {
      console.append('panel', announcementText(announcement));
      const news = scheduleNewsOf(announcement);
      if (news !== null) notices.tell(news);
    },
  });
}

/** As the console shows it: in English, as all lines of the panel are. */
function announcementText({ kind, schedule, at, minutes, by }: Announcement): string {
  const author = by === '' ? '' : ` by ${by}`;
  switch (kind) {
    case 'announced':
      return `${schedule}: planned for ${at}, in ${minutes} minutes`;
    case 'skipped':
      return by === '' ? `${schedule}: given up, as other work took too long` : `${schedule}: skipped${author}`;
    case 'delayed':
      return `${schedule}: put off to ${at}${author}`;
    case 'missed':
      return `${schedule}: missed at ${at}, as the panel did not run or the clock was set`;
    default:
      return kind satisfies never;
  }
}
