import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PastOwner, QueueRow } from '#engine/queues.ts';
import { mergedQueue } from '#sidecar/moving/copy-queue.ts';

const journal = fc.constantFrom('aaaa', 'bbbb', 'cccc');
const place = { token: fc.integer({ min: 1, max: 9 }), position: fc.integer({ min: 0, max: 999 }) };
const past = fc.uniqueArray(fc.record({ journal, ...place }), {
  maxLength: 6,
  selector: ({ journal: name, token }) => `${name} ${token}`,
});

/** A row that a database can hold: it had no earlier owner under its own token. */
const row: fc.Arbitrary<QueueRow> = fc
  .record({ namespace: fc.constant('stats'), journal: fc.option(journal), ...place, past })
  .map((made) => ({ ...made, past: made.past.filter(({ token }) => token < made.token) }));

/** How far a journal came under a token; null if the row does not know it. */
function reached(queue: QueueRow, { journal: name, token }: Omit<PastOwner, 'position'>): number | null {
  if (queue.journal === name && queue.token === token) return queue.position;
  return queue.past.find((one) => one.journal === name && one.token === token)?.position ?? null;
}

function ownerships({ journal: name, token, position, past: earlier }: QueueRow): PastOwner[] {
  return [...earlier, ...(name === null ? [] : [{ journal: name, token, position }])];
}

describe('the queue of a namespace that is copied onto another', () => {
  it('is the only one there is', () => {
    fc.assert(
      fc.property(row, (one) => {
        expect(mergedQueue(one, null)).toBe(one);
        expect(mergedQueue(null, one)).toBe(one);
      }),
    );
    expect(mergedQueue(null, null)).toBeNull();
  });

  it('never gives a token a second time', () => {
    fc.assert(
      fc.property(row, row, (from, to) => {
        expect(mergedQueue(from, to)?.token).toBe(Math.max(from.token, to.token));
      }),
    );
  });

  it('knows of every owner how far it came: by the source, whose rows are there now, else by the target', () => {
    fc.assert(
      fc.property(row, row, (from, to) => {
        const merged = mergedQueue(from, to) as QueueRow;
        for (const owner of [...ownerships(from), ...ownerships(to)]) {
          expect(reached(merged, owner)).toBe(reached(from, owner) ?? reached(to, owner));
        }
      }),
    );
  });

  it('goes on with the journal of the source where both have the same token', () => {
    fc.assert(
      fc.property(row, row, (from, to) => {
        fc.pre(from.journal !== null);
        const merged = mergedQueue(from, { ...to, token: from.token });
        expect(merged).toMatchObject({ journal: from.journal, position: from.position });
      }),
    );
  });

  it('remembers at most 32 earlier owners, the newest', () => {
    const many = Array.from({ length: 32 }, (_, i) => ({ journal: 'aaaa', token: i + 1, position: i }));
    const from = { namespace: 'stats', journal: 'aaaa', token: 33, position: 5, past: many };
    const merged = mergedQueue(from, { ...from, journal: 'bbbb', token: 40, past: [] });
    expect(merged?.past).toHaveLength(32);
    expect(merged?.past.at(-1)).toEqual({ journal: 'aaaa', token: 33, position: 5 });
    expect(merged?.past[0]?.token).toBe(2);
  });
});
