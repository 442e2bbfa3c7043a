import { beforeEach, describe, expect, it } from 'vitest';
import type { Orphan, QueueRow } from '#engine/queues.ts';
import { Capacity } from '#sidecar/write-behind/capacity.ts';
import type { PendingEntry } from '#sidecar/write-behind/journal/entries.ts';
import { PendingEntries } from '#sidecar/write-behind/pending-entries.ts';
import type { QueueWorld } from '#sidecar/write-behind/queue-world.ts';
import { RecentEntries } from '#sidecar/write-behind/recent-entries.ts';

const MANY = 200_000;
/** Time by the square of the entries is a minute and more here. */
const QUICK_MS = 3000;

const entryAt = (position: number): PendingEntry => ({
  ...{ position, namespace: 'game', token: 1, time: 0, bytes: 10, retryOf: null },
  ...{ segment: 1, offset: 0, length: 10 },
});
const positions = (entries: Iterable<PendingEntry>): number[] => [...entries].map(({ position }) => position);

let buried: number[] = [];
let settled: number[] = [];
let entries: PendingEntries;

/** As much of a world as a queue of entries uses: the database takes dead letters, the journal notes what is settled. */
function world(): QueueWorld {
  const engine = {
    queues: {
      buryOrphans: async (_owner: unknown, orphans: readonly Orphan[]) => {
        buried.push(...orphans.map(({ position }) => position));
      },
    },
  };
  const journal = {
    id: 'mine',
    read: async (asked: readonly PendingEntry[]) => asked.map((entry) => ({ ...entry, id: `${entry.position}` })),
    settle: (over: readonly PendingEntry[]) => {
      for (const { position } of over) settled.push(position);
    },
    checkpoint: async () => {},
  };
  const listener = { full: () => {}, room: () => {} };
  return {
    ...{ engine, journal, statementTimeoutMs: 1000, clock: { monotonicNow: () => 0 }, log: () => {} },
    ...{
      capacity: new Capacity({ maxPending: 1e6, maxJournalMegabytes: 1000 }, listener),
      recent: new RecentEntries(),
    },
    ...{ letters: { refresh: async () => {} }, tally: { deadLettered: 0 } },
  } as unknown as QueueWorld;
}

beforeEach(() => {
  buried = [];
  settled = [];
  entries = new PendingEntries('game', world());
});

const lostTo = (journal: string): QueueRow => ({ namespace: 'game', journal, token: 2, position: 0, past: [] });

describe('a queue that another sidecar has taken over', () => {
  it('puts 200,000 entries to the dead letters, in order', { timeout: 120_000 }, async () => {
    const all = Array.from({ length: MANY }, (_, i) => i + 1);
    for (const position of all) entries.restore(entryAt(position));
    entries.sort(lostTo('theirs'));
    const startedMs = performance.now();
    expect(await entries.settleOver()).toBe(MANY);
    expect(performance.now() - startedMs).toBeLessThan(QUICK_MS);
    expect(buried).toEqual(all);
    expect(settled).toEqual(all);
    expect(entries.isEmpty).toBe(true);
  });

  it('keeps what comes meanwhile for the next time', async () => {
    for (const position of [1, 2]) entries.restore(entryAt(position));
    entries.sort(lostTo('theirs'));
    const settling = entries.settleOver();
    for (const position of [5, 4]) entries.push(entryAt(position));
    expect(await settling).toBe(2);
    expect(entries.first?.position).toBe(4);
    expect(await entries.settleOver()).toBe(2);
    expect(buried).toEqual([1, 2, 4, 5]);
  });
});

describe('entries that are accepted out of order', () => {
  it('are applied in order', () => {
    for (const position of [3, 1, 2, 7, 5, 6, 4]) entries.push(entryAt(position));
    expect(positions(entries.live())).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('stay behind those that are settled', () => {
    for (const position of [1, 2, 5]) entries.push(entryAt(position));
    entries.tried(2);
    entries.settle([...entries.live()].slice(0, 2));
    entries.push(entryAt(4));
    entries.push(entryAt(3));
    expect(positions(entries.live())).toEqual([3, 4, 5]);
  });

  it('cost no more than others', { timeout: 120_000 }, () => {
    const startedMs = performance.now();
    for (let position = 2; position <= MANY; position += 2) {
      entries.push(entryAt(position));
      entries.push(entryAt(position - 1));
    }
    expect(performance.now() - startedMs).toBeLessThan(QUICK_MS);
    expect(positions(entries.live())).toEqual(Array.from({ length: MANY }, (_, i) => i + 1));
  });
});
