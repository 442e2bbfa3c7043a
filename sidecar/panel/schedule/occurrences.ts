import { type Moment, momentOf, wallAt } from '../local-time.ts';
import type { When } from '../shapes/schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;

export interface Timing {
  readonly when: When;
  readonly timeZone: string;
}

/**
 * The next moments after one, in order; two local times that fall on one moment are one.
 *
 * @param startedAt epoch milliseconds of the server's start, from which `every` counts; null: it does not run
 */
export function occurrencesAfter(
  { when, timeZone }: Timing,
  from: number,
  count: number,
  startedAt: number | null,
): Moment[] {
  switch (when.kind) {
    case 'once': {
      const moment = momentOf(timeZone, wallOf(when.at));
      return moment.at > from ? [moment] : [];
    }
    case 'every':
      return startedAt === null ? [] : countedFrom(startedAt, when.hours * HOUR_MS, from, count);
    case 'weekly':
      return weekly(when, timeZone, from, count);
    default:
      return when satisfies never;
  }
}

/** Local `2031-03-30T05:00` as a wall's digits. */
export function wallOf(local: string): number {
  return Date.parse(`${local}:00Z`);
}

function countedFrom(startedAt: number, step: number, from: number, count: number): Moment[] {
  const first = Math.max(1, Math.floor((from - startedAt) / step) + 1);
  return Array.from({ length: count }, (_, index) => ({ at: startedAt + (first + index) * step, note: null }));
}

function weekly(when: Extract<When, { kind: 'weekly' }>, zone: string, from: number, count: number): Moment[] {
  const found = new Map<number, Moment>();
  // A gap or a zone's change can put a moment on the day beside its own.
  let day = Math.floor(wallAt(zone, from) / DAY_MS) * DAY_MS - DAY_MS;
  for (; found.size < count + when.times.length; day += DAY_MS) {
    if (!when.days.includes(weekdayOf(day))) continue;
    for (const time of when.times) {
      const moment = momentOf(zone, day + timeOf(time));
      if (moment.at > from && !found.has(moment.at)) found.set(moment.at, moment);
    }
  }
  return [...found.values()].sort((a, b) => a.at - b.at).slice(0, count);
}

/** 1 is Monday. */
function weekdayOf(day: number): number {
  return ((new Date(day).getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK) + 1;
}

function timeOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * HOUR_MS + minutes * 60_000;
}
