import { expect, it } from 'vitest';
import type { SidecarRow } from '#engine/cluster/cluster-calls.ts';
import { Neighbours, type NeighboursOptions } from '#sidecar/cluster/neighbours.ts';
import { Instance } from '#sidecar/security/instance.ts';
import { testFolder } from '../../support/test-folder.ts';

/** A sidecar that looks at rows of the test, and what it tells its owner of the others. */
function watching(rows: SidecarRow[]) {
  const told: string[] = [];
  const clock = { now: 1_700_000_000_000, monotonic: 0 };
  const own = new Map<string, SidecarRow>();
  const engine = {
    cluster: {
      listSidecars: async () => [...rows, ...own.values()],
      putSidecar: async (row: SidecarRow) => Boolean(own.set(row.instance, row)),
      dropSidecar: async () => {},
    },
    leases: { look: async () => {} },
    transfer: { writeMark: async () => {} },
  } as unknown as NeighboursOptions['engine'];
  const neighbours = new Neighbours({
    ...{ instance: Instance.open(testFolder()), engine, version: '1.0.0', keys: new Map() },
    now: () => clock.now,
    monotonicNow: () => clock.monotonic,
    log: (level, message, fields) => told.push(`${level} ${(fields as { box: string }).box}: ${message}`),
  });
  const looks = async (count: number, stepMs: number): Promise<void> => {
    for (let look = 0; look < count; look += 1) {
      clock.monotonic += stepMs;
      clock.now += stepMs;
      neighbours.begin('http://here');
      await neighbours.settled();
    }
  };
  return { neighbours, told, looks, clock };
}

const ROW = { instance: 'other', box: 'game-2', url: 'http://10.0.0.2', version: '1.0.0', seenAt: 1 };

it('tells once that another sidecar gives no sign, and that it is seen again', async () => {
  const rows = [ROW];
  const { neighbours, told, looks } = watching(rows);
  await looks(1, 2000);
  rows[0] = { ...ROW, seenAt: 2 };
  await looks(18, 2000);
  expect(told).toEqual([]);
  await looks(3, 2000);
  expect(told).toEqual([expect.stringMatching(/^warn game-2: another sidecar of the database gives no sign any more/)]);
  rows[0] = { ...ROW, seenAt: 3 };
  await looks(5, 2000);
  expect(told.slice(1)).toEqual(['info game-2: another sidecar of the database is seen again']);
  rows.length = 0;
  await looks(1, 2000);
  expect(told.slice(2)).toEqual(['info game-2: another sidecar of the database has ended in order']);
  await neighbours.stop();
});

it('tells nothing of a row that was left behind, or after a time without the database', async () => {
  const rows = [ROW, { ...ROW, instance: 'third', box: 'game-3' }];
  const { neighbours, told, looks } = watching(rows);
  await looks(1, 2000);
  rows[1] = { ...(rows[1] as SidecarRow), seenAt: 2 };
  await looks(2, 2000);
  // All were without it for an hour; the other writes again within a beat.
  await looks(5, 3_600_000);
  rows[1] = { ...(rows[1] as SidecarRow), seenAt: 3 };
  await looks(5, 2000);
  expect(told).toEqual([]);
  await neighbours.stop();
});

it('counts a silent sidecar as one that may accept requests, until its row is gone', async () => {
  const rows = [ROW];
  const { neighbours, looks } = watching(rows);
  await looks(30, 2000);
  expect(neighbours.others().map(({ isAlive }) => isAlive)).toEqual([false]);
  expect(neighbours.hasOthers).toBe(true);
  rows.length = 0;
  await looks(1, 2000);
  expect(neighbours.hasOthers).toBe(false);
  await neighbours.stop();
});

it('knows of no others only while it looks: a process that was stopped has seen nothing', async () => {
  const { neighbours, looks, clock } = watching([]);
  await looks(2, 2000);
  expect(neighbours.hasOthers).toBe(false);
  clock.monotonic += 40_000;
  expect(neighbours.hasOthers).toBe(true);
  await looks(1, 2000);
  expect(neighbours.hasOthers).toBe(false);
  await neighbours.stop();
});

it('tells the moment of its start by the clock of now, which may have been corrected', async () => {
  const { neighbours, looks, clock } = watching([ROW]);
  const startedAt = clock.now;
  await looks(3, 2000);
  expect(neighbours.knownSince).toBe(startedAt);
  clock.now -= 600_000;
  expect(neighbours.knownSince).toBe(startedAt - 600_000);
  await neighbours.stop();
});

it('lets expire what has expired by the clocks of all sidecars that live', async () => {
  const rows: SidecarRow[] = [];
  const { neighbours, looks, clock } = watching(rows);
  await looks(1, 2000);
  expect(neighbours.expiryNow).toBe(clock.now);
  rows[0] = { ...ROW, seenAt: clock.now + 1_200_000 };
  rows[1] = { ...ROW, instance: 'third', seenAt: clock.now - 1_200_000 };
  const { seenAt } = rows[1];
  await looks(2, 2000);
  expect(neighbours.expiryNow).toBe(seenAt);
  // Stopped for an hour, and awake again: it has not looked yet.
  clock.now += 3_600_000;
  clock.monotonic += 3_600_000;
  expect(neighbours.expiryNow).toBe(seenAt);
  rows[1] = { ...ROW, instance: 'third', seenAt: seenAt + 3_600_000 };
  await looks(1, 2000);
  expect(neighbours.expiryNow).toBe(seenAt + 3_600_000);
  // A dead one holds nothing back.
  await looks(20, 2000);
  expect(neighbours.expiryNow).toBe(clock.now);
  await neighbours.stop();
});
