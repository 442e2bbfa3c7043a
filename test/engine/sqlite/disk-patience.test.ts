import { expect, it } from 'vitest';
import { DiskPatience } from '#engine/sqlite/spot/disk-patience.ts';

/** A disk that is read or not, as the test says. */
function patience(disk: { isRead: boolean }) {
  return new DiskPatience({ hasMore: () => disk.isRead });
}

it('never rests for slow reads that no disk has caused', () => {
  const calm = patience({ isRead: false });
  for (let nowMs = 0; nowMs < 10_000; nowMs += 50) {
    calm.note(40, nowMs);
    expect(calm.isResting(nowMs)).toBe(false);
  }
});

it('rests after one long read of the disk, and comes back by itself', () => {
  const calm = patience({ isRead: true });
  calm.note(8, 1000);
  expect(calm.isResting(1000)).toBe(true);
  expect(calm.isResting(1099)).toBe(true);
  expect(calm.isResting(1100)).toBe(false);
});

it('rests after many short reads of the disk, and forgives those that are rare', () => {
  const calm = patience({ isRead: true });
  let reads = 0;
  for (; !calm.isResting(reads); reads += 1) calm.note(0.2, reads);
  expect(reads).toBeGreaterThan(3);
  expect(reads).toBeLessThan(10);
  const rare = patience({ isRead: true });
  for (let second = 0; second < 100; second += 1) {
    rare.note(0.2, second * 1000);
    expect(rare.isResting(second * 1000)).toBe(false);
  }
});

it('rests ever longer while the disk stays slow, and begins again with short rests later', () => {
  const disk = { isRead: true };
  const calm = patience(disk);
  const restMs = (fromMs: number): number => {
    calm.note(8, fromMs);
    let toMs = fromMs;
    while (calm.isResting(toMs)) toMs += 1;
    return toMs - fromMs;
  };
  let nowMs = 0;
  const rests: number[] = [];
  for (let rest = 0; rest < 9; rest += 1) {
    rests.push(restMs(nowMs));
    nowMs += rests.at(-1) as number;
  }
  expect(rests).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  expect(restMs(nowMs + 60_000)).toBe(100);
});

it('takes slow reads for reads of the disk if nothing counts them', () => {
  const blind = new DiskPatience(null);
  blind.note(0.9, 0);
  expect(blind.isResting(0)).toBe(false);
  blind.note(3, 1);
  expect(blind.isResting(1)).toBe(true);
});
