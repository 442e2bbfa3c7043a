import type { RemoteKeep } from '../../config/backup-remote.ts';
import { byTime, type ObjectName } from './object-name.ts';

const DAY_MS = 86_400_000;

/**
 * Backups to delete: all but the newest of each of the last days, ISO weeks and months (UTC) that have one, and but the
 * newest of all. Never a backup of another installation.
 */
export function expiredBackups(all: readonly ObjectName[], installation: string, keep: RemoteKeep): ObjectName[] {
  const own = all.filter((one) => one.installation === installation).toSorted(byTime);
  const newestFirst = own.toReversed();
  const kept = new Set<ObjectName>([
    ...newestFirst.slice(0, 1),
    ...newestOfEach(newestFirst, dayOf, keep.daily),
    ...newestOfEach(newestFirst, isoWeekOf, keep.weekly),
    ...newestOfEach(newestFirst, monthOf, keep.monthly),
  ]);
  return own.filter((one) => !kept.has(one));
}

function newestOfEach(
  newestFirst: readonly ObjectName[],
  spanOf: (time: number) => number,
  count: number,
): ObjectName[] {
  const newest = new Map<number, ObjectName>();
  for (const one of newestFirst) {
    const span = spanOf(one.time);
    if (!newest.has(span)) newest.set(span, one);
  }
  return [...newest.values()].slice(0, count);
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** Weeks begin on Monday; 1 January 1970 was a Thursday. */
function isoWeekOf(time: number): number {
  return Math.floor((dayOf(time) + 3) / 7);
}

function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
