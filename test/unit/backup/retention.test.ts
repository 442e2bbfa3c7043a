import fc from 'fast-check';
import { expect, it } from 'vitest';
import { objectName, parseObjectName } from '#sidecar/backup/remote/object-name.ts';
import { expiredBackups } from '#sidecar/backup/remote/retention.ts';

const OWN = 'abcdefgh';
const OTHER = 'zzzzzzzz';
const FIRST = Date.UTC(2023, 11, 20);

interface Drawn {
  readonly minutes: number;
  readonly isOwn: boolean;
}

const backups = fc.uniqueArray(fc.record({ minutes: fc.nat(800 * 1440), isOwn: fc.boolean() }), {
  selector: ({ minutes }) => minutes,
  maxLength: 60,
});
const keeps = fc.record({ daily: fc.nat(10), weekly: fc.nat(6), monthly: fc.nat(6) });

function named({ minutes, isOwn }: Drawn) {
  const time = new Date(FIRST + minutes * 60_000).toISOString().slice(0, 19).replaceAll(':', '-');
  const parsed = parseObjectName(objectName(`backup-${time}Z`, isOwn ? OWN : OTHER, minutes % 2 === 0));
  if (parsed === null) throw new Error('a name that is none');
  return parsed;
}

/** ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek(time: number): string {
  const thursday = new Date(time);
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const year = thursday.getUTCFullYear();
  return `${year}-W${Math.ceil(((thursday.getTime() - Date.UTC(year, 0, 1)) / 86_400_000 + 1) / 7)}`;
}

const SPANS = [
  ['daily', (time: number) => new Date(time).toISOString().slice(0, 10)],
  ['weekly', isoWeek],
  ['monthly', (time: number) => new Date(time).toISOString().slice(0, 7)],
] as const;

it('keeps the newest of each of the last spans that have one, and nothing else of its own', () => {
  fc.assert(
    fc.property(backups, keeps, (drawn, keep) => {
      const all = drawn.map(named);
      const own = all.filter(({ installation }) => installation === OWN).map(({ time }) => time);
      const expired = expiredBackups(all, OWN, keep);
      expect(expired.every(({ installation }) => installation === OWN)).toBe(true);
      const gone = new Set(expired.map(({ time }) => time));
      for (const time of own) {
        const isWanted = SPANS.some(([name, spanOf]) => {
          const newerSpans = new Set(own.filter((other) => other > time).map(spanOf));
          return !newerSpans.has(spanOf(time)) && newerSpans.size < keep[name];
        });
        expect(gone.has(time)).toBe(!isWanted && time !== Math.max(...own));
      }
    }),
  );
});

it('with nothing to keep the newest stays', () => {
  const all = [1, 2, 3].map((minutes) => named({ minutes, isOwn: true }));
  const nothing = { daily: 0, weekly: 0, monthly: 0 };
  expect(expiredBackups(all, OWN, nothing).map(({ time }) => time)).toEqual(all.slice(0, 2).map(({ time }) => time));
});

it('deleting twice deletes no more than deleting once', () => {
  fc.assert(
    fc.property(backups, keeps, (drawn, keep) => {
      const all = drawn.map(named);
      const gone = new Set(expiredBackups(all, OWN, keep));
      expect(
        expiredBackups(
          all.filter((one) => !gone.has(one)),
          OWN,
          keep,
        ),
      ).toEqual([]);
    }),
  );
});

it('names of other files are no backups', () => {
  const good = 'backup-2026-11-22T04-30-00Z-abcdefgh.tar.zst';
  expect(parseObjectName(`${good}.age`)).toMatchObject({ backup: 'backup-2026-11-22T04-30-00Z', isEncrypted: true });
  expect(parseObjectName('backup-2026-11-22T04-30-00Z-2-abcdefgh.tar.zst')?.backup).toBe(
    'backup-2026-11-22T04-30-00Z-2',
  );
  for (const name of [`${good}.partial`, `x/${good}`, good.replace('-abcdefgh', ''), good.replace('11-22', '13-45')]) {
    expect(parseObjectName(name)).toBe(null);
  }
});
