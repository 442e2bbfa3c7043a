import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueRow } from '#engine/queues.ts';
import { mergedQueues } from '#sidecar/moving/copy-queue.ts';

const place = { token: fc.integer({ min: 1, max: 9 }), position: fc.integer({ min: 0, max: 999 }) };
const past = fc.uniqueArray(fc.record(place), { maxLength: 6, selector: ({ token }) => token });

/** Rows that a database can hold: one a journal, with places under earlier tokens. */
const rows: fc.Arbitrary<QueueRow[]> = fc.uniqueArray(
  fc
    .record({ namespace: fc.constant('stats'), journal: fc.constantFrom('aaaa', 'bbbb', 'cccc'), ...place, past })
    .map((made) => ({ ...made, past: made.past.filter(({ token }) => token < made.token) })),
  { maxLength: 3, selector: ({ journal }) => journal },
);

const named = (all: readonly QueueRow[], journal: string) => all.find((row) => row.journal === journal);

/** How far a journal came under a token; null if the rows do not know it. */
function reached(all: readonly QueueRow[], journal: string, token: number): number | null {
  const row = named(all, journal);
  if (row === undefined) return null;
  return [...row.past, row].find((one) => one.token === token)?.position ?? null;
}

describe('the queues of a namespace that is copied onto another', () => {
  it('are those of the source, if the target has none', () => {
    fc.assert(
      fc.property(rows, (from) => {
        expect(mergedQueues(from, [])).toEqual(from);
      }),
    );
  });

  it('never give a token of the target a second time', () => {
    fc.assert(
      fc.property(rows, rows, (from, to) => {
        for (const { journal, token } of mergedQueues(from, to)) {
          const there = named(to, journal)?.token ?? 0;
          expect(token).toBeGreaterThanOrEqual(there);
          if (token === there) expect(named(from, journal)?.token).toBe(there);
        }
      }),
    );
  });

  it('know how far each journal came: by the source, whose rows are there now, else by the target', () => {
    fc.assert(
      fc.property(rows, rows, (from, to) => {
        const merged = mergedQueues(from, to);
        for (const row of from) {
          for (const { token } of [...row.past, row]) {
            expect(reached(merged, row.journal, token)).toBe(reached(from, row.journal, token));
          }
        }
        for (const row of to) {
          if (named(from, row.journal) !== undefined) continue;
          expect(reached(merged, row.journal, row.token)).toBe(row.position);
        }
      }),
    );
  });

  it('fence the journals that the source does not know', () => {
    fc.assert(
      fc.property(rows, rows, (from, to) => {
        for (const row of mergedQueues(from, to)) {
          if (named(from, row.journal) === undefined) expect(row.token).toBe((named(to, row.journal)?.token ?? 0) + 1);
        }
      }),
    );
  });

  it('remember at most 32 earlier places, the newest', () => {
    const many = Array.from({ length: 32 }, (_, i) => ({ token: i + 1, position: i }));
    const from = { namespace: 'stats', journal: 'aaaa', token: 33, position: 5, past: many };
    const [merged] = mergedQueues([from], [{ ...from, token: 40, past: [] }]);
    expect(merged?.past).toHaveLength(32);
    expect(merged?.past.at(-1)).toEqual({ token: 40, position: 5 });
    expect(merged?.token).toBe(41);
  });
});
