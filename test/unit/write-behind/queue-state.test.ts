import { beforeEach, describe, expect, it } from 'vitest';
import type { Orphan, QueueRow } from '#engine/queues.ts';
import type { PendingEntry } from '#sidecar/write-behind/journal/entries.ts';
import type { LetterCount } from '#sidecar/write-behind/letter-count.ts';
import { QueueLetters } from '#sidecar/write-behind/queue-letters.ts';
import { QueueState } from '#sidecar/write-behind/queue-state.ts';
import type { QueueWorld } from '#sidecar/write-behind/queue-world.ts';
import { Totals } from '#sidecar/write-behind/totals.ts';

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
let entries: QueueState;
let letters: QueueLetters;

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
  const config = { maxPending: 1e6, maxJournalMegabytes: 1000, flushIntervalMs: 1000, flushAtPending: 500 };
  const clock = { monotonicNow: () => 0 };
  return { engine, journal, config, statementTimeoutMs: 1000, clock, log: () => {} } as unknown as QueueWorld;
}

/** A queue with the entries that the journal held at the start. */
function restore(positions: readonly number[]): void {
  const parts = world();
  entries = new QueueState(parts, new Totals(parts), positions.map(entryAt));
  letters = new QueueLetters('game', parts, { refresh: async () => {} } as LetterCount);
}

const push = (position: number) => entries.push(entryAt(position), null, 0);

beforeEach(() => {
  buried = [];
  settled = [];
  restore([]);
});

const fenced: QueueRow = { namespace: 'game', journal: 'mine', token: 2, position: 0, past: [] };

describe('a queue under rows that were restored', () => {
  it('puts 200,000 entries to the dead letters, in order', { timeout: 120_000 }, async () => {
    const all = Array.from({ length: MANY }, (_, i) => i + 1);
    restore(all);
    entries.sort(fenced);
    const startedMs = performance.now();
    await letters.settleOver(entries);
    expect(entries.size).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(QUICK_MS);
    expect(buried).toEqual(all);
    expect(settled).toEqual(all);
    expect(entries.isEmpty).toBe(true);
  });

  it('keeps what comes meanwhile for the next time', async () => {
    restore([1, 2]);
    entries.sort(fenced);
    const settling = letters.settleOver(entries);
    for (const position of [5, 4]) push(position);
    await settling;
    expect(settled).toEqual([1, 2]);
    expect(entries.first?.position).toBe(4);
    await letters.settleOver(entries);
    expect(buried).toEqual([1, 2, 4, 5]);
  });
});

describe('entries that are accepted out of order', () => {
  it('are applied in order', () => {
    for (const position of [3, 1, 2, 7, 5, 6, 4]) push(position);
    expect(positions(entries.live())).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('stay behind those that are settled', () => {
    for (const position of [1, 2, 5]) push(position);
    entries.tried(2);
    entries.settle({ entries: [...entries.live()].slice(0, 2), letters: [], tookMs: 1 });
    push(4);
    push(3);
    expect(positions(entries.live())).toEqual([3, 4, 5]);
  });

  it('cost no more than others', { timeout: 120_000 }, () => {
    const startedMs = performance.now();
    for (let position = 2; position <= MANY; position += 2) {
      push(position);
      push(position - 1);
    }
    expect(performance.now() - startedMs).toBeLessThan(QUICK_MS);
    expect(positions(entries.live())).toEqual(Array.from({ length: MANY }, (_, i) => i + 1));
  });
});
