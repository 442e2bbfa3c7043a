import type { BackupSchedule } from '../config/backup.ts';

const HOUR_MS = 3_600_000;

/**
 * When the next backup is to be made, epoch milliseconds; `now` or earlier means at once. One that was missed, as while
 * the sidecar was not running, is made at once, and so is the first of all. `last`: when the newest one was made.
 */
export function nextDue(schedule: BackupSchedule, last: number | null, now: number): number {
  if (last === null) return now;
  if (schedule.kind === 'every') return Math.min(last, now) + schedule.hours * HOUR_MS;
  const today = timeOfDay(schedule, now, 0);
  const latest = today <= now ? today : timeOfDay(schedule, now, -1);
  if (last < latest) return now;
  return today > now ? today : timeOfDay(schedule, now, 1);
}

/** In the time zone of the machine; a time that a change of the clocks leaves out is the one after it. */
function timeOfDay({ hour, minute }: BackupSchedule & { kind: 'daily' }, now: number, days: number): number {
  const date = new Date(now);
  date.setDate(date.getDate() + days);
  return date.setHours(hour, minute, 0, 0);
}
