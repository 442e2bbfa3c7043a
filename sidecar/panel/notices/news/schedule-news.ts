import type { Announcement } from '../../schedule/schedule.ts';
import type { News } from '../news.ts';

/** A planned backup that was missed is news of backups; null: no news. */
export function scheduleNewsOf({ kind, schedule, action, at, minutes, by }: Announcement): News | null {
  const facts = [schedule, at, by];
  if (kind === 'announced') {
    return { event: 'restart.announced', facts: [schedule, at], data: { schedule, at, minutes } };
  }
  const data = { schedule, at, by };
  if (action === 'backup') return kind === 'missed' ? { event: 'backup.missed', facts, data } : null;
  return { event: `restart.${kind}`, facts, data };
}
