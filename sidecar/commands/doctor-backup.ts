import { listBackups } from '../backup/backup-folder.ts';
import type { BackupSchedule } from '../config/backup.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Finding } from './doctor-finding.ts';

const HOUR_MS = 3_600_000;
const what = 'backup';

/** How old the newest one is; one that is a whole turn late has failed. */
export function* backupFindings({ backup: { folder, schedule } }: SidecarConfig): Generator<Finding> {
  if (schedule === null) {
    const advice = 'set backup.at in the configuration (docs/backup.md), unless backups are made otherwise';
    yield { verdict: 'warn', what, found: 'no schedule', advice };
  }
  const last = listBackups(folder).at(-1);
  if (last === undefined) {
    if (schedule !== null)
      yield {
        verdict: 'warn',
        what,
        found: `none in ${folder} yet`,
        advice: 'a running sidecar makes the first one at once; its log says why not',
      };
    return;
  }
  const hours = Math.floor((Date.now() - last.time) / HOUR_MS);
  const found = `${last.path} is ${hours} h old`;
  const isLate = schedule !== null && hours >= 2 * hoursOf(schedule);
  yield isLate
    ? { verdict: 'fail', what, found, advice: 'the log of the sidecar says why there is no newer one' }
    : { verdict: 'ok', what, found };
}

function hoursOf(schedule: BackupSchedule): number {
  return schedule.kind === 'every' ? schedule.hours : 24;
}
