import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextDue } from '#sidecar/backup/scheduled-backups.ts';

const HOUR = 3_600_000;
const moment = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) });
const daily = fc.record({
  kind: fc.constant('daily' as const),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
});

it('the first of all is made at once', () => {
  expect(nextDue({ kind: 'every', hours: 5 }, null, 1000)).toBe(1000);
  expect(nextDue({ kind: 'daily', hour: 4, minute: 30 }, null, 1000)).toBe(1000);
});

it('every so many hours, also where the clock was set back behind the last one', () => {
  fc.assert(
    fc.property(moment, moment, fc.integer({ min: 1, max: 100 }), (last, now, hours) => {
      const due = nextDue({ kind: 'every', hours }, last, now);
      expect(due).toBe(Math.min(last, now) + hours * HOUR);
    }),
  );
});

it('daily: at most once between two times of day, and never missed', () => {
  fc.assert(
    fc.property(daily, moment, fc.nat(10 * 24 * HOUR), (schedule, last, later) => {
      const now = last + later;
      const due = nextDue(schedule, last, now);
      const timesPassed = Array.from({ length: 13 }, (_, day) => {
        const date = new Date(last);
        date.setDate(date.getDate() + day - 1);
        return date.setHours(schedule.hour, schedule.minute, 0, 0);
      }).filter((time) => time > last && time <= now).length;
      expect(due <= now).toBe(timesPassed > 0);
      if (due <= now) return;
      const at = new Date(due);
      expect(due - now).toBeLessThanOrEqual(25 * HOUR);
      expect([at.getHours(), at.getMinutes()]).toEqual([schedule.hour, schedule.minute]);
    }),
  );
});
