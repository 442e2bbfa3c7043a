import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTimeZone, localText } from '#panel/local-time.ts';
import { occurrencesAfter } from '#panel/schedule/occurrences.ts';
import type { When } from '#panel/shapes/schedule.ts';

const DAY_MS = 86_400_000;
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'Asia/Kolkata', 'Australia/Lord_Howe'],
  ...['Africa/Casablanca', 'Pacific/Apia', 'America/St_Johns', 'Asia/Tehran'],
];

function times(when: When, timeZone: string, from: string, count = 3, startedAt: number | null = null): string[] {
  return occurrencesAfter({ when, timeZone }, Date.parse(from), count, startedAt).map(
    ({ at, note }) => `${localText(timeZone, at)}${note === null ? '' : ` ${note}`}`,
  );
}

const daily = (...at: string[]): When => ({ kind: 'weekly', days: [1, 2, 3, 4, 5, 6, 7], times: at });

describe('the times of an entry', () => {
  it.each([
    [
      'a time that is left out runs at the first moment after the gap',
      'Europe/Berlin',
      daily('02:30'),
      '2031-03-29T12:00:00Z',
      ['2031-03-30T03:00+02:00 gap', '2031-03-31T02:30+02:00', '2031-04-01T02:30+02:00'],
    ],
    [
      'a time that comes twice runs the first time',
      'Europe/Berlin',
      daily('02:30'),
      '2031-10-25T12:00:00Z',
      ['2031-10-26T02:30+02:00 twice', '2031-10-27T02:30+01:00', '2031-10-28T02:30+01:00'],
    ],
    [
      'two that fall together run once',
      'Europe/Berlin',
      daily('02:00', '02:30', '03:00'),
      '2031-03-30T00:00:00Z',
      ['2031-03-30T03:00+02:00 gap', '2031-03-31T02:00+02:00', '2031-03-31T02:30+02:00'],
    ],
    [
      'half an hour of daylight saving',
      'Australia/Lord_Howe',
      daily('02:15'),
      '2030-10-05T12:00:00Z',
      ['2030-10-06T02:30+11:00 gap', '2030-10-07T02:15+11:00', '2030-10-08T02:15+11:00'],
    ],
    [
      'a day that a country left out',
      'Pacific/Apia',
      daily('05:00'),
      '2011-12-29T20:00:00Z',
      ['2011-12-31T00:00+14:00 gap', '2011-12-31T05:00+14:00', '2012-01-01T05:00+14:00'],
    ],
    [
      'days of the week, Monday first',
      'America/New_York',
      { kind: 'weekly', days: [1, 7], times: ['23:45', '00:15'] } as const,
      '2026-11-28T12:00:00Z',
      ['2026-11-29T00:15-05:00', '2026-11-29T23:45-05:00', '2026-11-30T00:15-05:00'],
    ],
    [
      'a leap day',
      'Asia/Kolkata',
      { kind: 'once', at: '2028-02-29T05:00' } as const,
      '2028-02-28T00:00:00Z',
      ['2028-02-29T05:00+05:30'],
    ],
  ])('%s', (_, zone, when, from, expected) => {
    expect(times(when as When, zone, from)).toEqual(expected);
  });

  it('count hours from the start of the server, and none while it does not run', () => {
    const when: When = { kind: 'every', hours: 12 };
    const startedAt = Date.parse('2031-01-01T01:30:00Z');
    const after = '2031-01-02T02:00:00Z';
    expect(times(when, 'UTC', after, 2, startedAt)).toEqual(['2031-01-02T13:30+00:00', '2031-01-03T01:30+00:00']);
    expect(times(when, 'UTC', after, 2, null)).toEqual([]);
  });

  it('show the wanted time on the wall once a day, in every zone and year', () => {
    // Another way through the same tables of zones: the Swedish form of a moment.
    const wall = (zone: string, at: number) => new Date(at).toLocaleString('sv-SE', { timeZone: zone }).slice(0, 16);
    const clock = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    const from = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2040, 0, 1) });
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), clock, from, (zone, [hour, minute], start) => {
        const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
        const found = occurrencesAfter({ when: daily(time), timeZone: zone }, start, 60, null);
        expect(found).toHaveLength(60);
        for (const [index, { at, note }] of found.entries()) {
          expect(at).toBeGreaterThan(index === 0 ? start : (found[index - 1]?.at ?? 0));
          const shown = wall(zone, at);
          if (note === 'gap') {
            expect(`${wall(zone, at - 60_000).slice(0, 10)} ${time}` < shown).toBe(true);
            expect(shown.slice(11) > time || shown.slice(11) === '00:00').toBe(true);
          } else expect(shown.slice(11)).toBe(time);
          const again = [30, 60, 120].some((minutes) => wall(zone, at + minutes * 60_000) === shown);
          expect(note === 'twice').toBe(again);
        }
        // A day each, but for those that a country leaves out.
        const lastDay = ((found.at(-1)?.at ?? 0) - (found[0]?.at ?? 0)) / DAY_MS;
        expect(Math.abs(lastDay - 59)).toBeLessThan(0.2);
      }),
      { numRuns: 30 },
    );
  });

  it('know the zones of IANA alone', () => {
    expect(ZONES.every(isTimeZone)).toBe(true);
    for (const wrong of ['', 'Berlin', 'Europe/Nowhere', '+02:00', 'x'.repeat(100), 5, null, '../etc'])
      expect(isTimeZone(wrong)).toBe(false);
  });
});
