import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { KeyMemory } from '#sidecar/write-behind/journal/key-memory.ts';
import { keyRecord } from '#sidecar/write-behind/journal/key-record.ts';
import { appendAll, entryOf, JournalWorld, payloadsOf, quiet } from './journal-world.ts';

const TEXTS = Array.from({ length: 60 }, (_, number) => `entry ${number} ${'x'.repeat(500)}`);

describe('space', () => {
  test('of what is settled is given back, also behind an entry that is not', async () => {
    const world = new JournalWorld({ segmentBytes: 32_768 });
    const { journal } = await world.open();
    const [held] = [await journal.append(entryOf('held', { namespace: 'halted' }))];
    for (const text of TEXTS) journal.settle(await appendAll(journal, [text]));
    await quiet();
    expect(world.segments().length).toBeLessThanOrEqual(3 + 1);
    expect(journal.stats().bytesOnDisk).toBeLessThanOrEqual(4 * 32_768);
    const opened = await world.reopen();
    expect(opened.findings).toEqual([]);
    expect(await payloadsOf(opened)).toContain('held');
    expect(opened.pending[0]?.position).toBe(held?.position);
  });

  test('of files that a crash left behind is given back too', async () => {
    const world = new JournalWorld({ segmentBytes: 32_768 });
    const { journal } = await world.open();
    world.fault = (call) => (call.kind === 'remove' ? { error: 'EIO' } : null);
    for (const text of TEXTS) journal.settle(await appendAll(journal, [text]));
    await quiet();
    expect(world.segments().length).toBeGreaterThan(4);
    world.fault = () => null;
    const opened = await world.reopen();
    opened.journal.settle(opened.pending);
    await quiet();
    expect(world.segments().length).toBeLessThanOrEqual(3);
    expect(opened.findings).toEqual([]);
  });

  test('that could not be given back is given back later, though nothing more comes', async () => {
    const world = new JournalWorld({ segmentBytes: 32_768 });
    const { journal } = await world.open();
    const places = [];
    for (const text of TEXTS) places.push(...(await appendAll(journal, [text])));
    // As while the disk is full for a moment, maybe of a segment that is made and given up.
    world.fault = ({ path }) => (path.includes('state.json') ? { error: 'ENOSPC' } : null);
    journal.settle(places);
    await quiet();
    expect(world.segments().length).toBeGreaterThan(4);
    world.fault = () => null;
    await world.clock.advance(60_000);
    expect(world.segments().length).toBeLessThanOrEqual(3);
    await journal.close();
  });

  test('a group larger than a segment has one of its own', async () => {
    const world = new JournalWorld({ segmentBytes: 16_384 });
    const { journal } = await world.open();
    await appendAll(journal, ['small', 'ö'.repeat(1_500_000), 'after']);
    const opened = await world.reopen();
    expect((await payloadsOf(opened)).map((payload) => payload.length)).toEqual([5, 1_500_000, 5]);
  });
});

describe('what is settled', () => {
  test('is not pending after a stop in order, and all but the newest is known after a crash', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    const places = await appendAll(journal, ['one', 'two', 'three']);
    journal.settle(places.slice(0, 2));
    await appendAll(journal, ['four']);
    journal.settle(places.slice(2));
    const crashed = await world.reopen();
    expect(await payloadsOf(crashed)).toEqual(['three', 'four']);
    expect(crashed.journal.settledTo('stats')).toEqual({ token: 1, position: 2 });
    crashed.journal.settle(crashed.pending.slice(0, 1));
    await crashed.journal.checkpoint();
    expect(await payloadsOf(await world.reopen())).toEqual(['four']);
  });

  test('counts in its own namespace only', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    await journal.append(entryOf('held', { namespace: 'halted' }));
    journal.settle(await appendAll(journal, ['one', 'two']));
    await journal.close();
    expect(await payloadsOf(await world.reopen())).toEqual(['held']);
  });
});

describe('keys', () => {
  test('are known until they expire: of entries, of writes that ran live, of segments that are gone', async () => {
    const world = new JournalWorld({ segmentBytes: 32_768 });
    const { journal } = await world.open();
    const key = world.keyOf('first', 'payload');
    const slot = { ...key, kid: 'local', namespace: 'stats' };
    const live = { ...world.keyOf('live'), kid: 'local', namespace: 'stats' };
    const place = await journal.append(entryOf('one', { key, pending: 12 }));
    journal.note(live, '{"affected":1}');
    journal.settle([place]);
    for (const text of TEXTS) journal.settle(await appendAll(journal, [text]));
    await quiet();
    expect(world.disk.paths().filter((path) => path.includes('keys-'))).toHaveLength(1);

    const answer = `{"queued":true,"id":"${journal.id}-${place.position}","pending":12}`;
    const next = (await world.reopen()).journal;
    for (const each of [journal, next]) {
      expect(each.recall(slot)).toEqual({ isSame: true, answer });
      expect(each.recall({ ...slot, fingerprint: 'other' })?.isSame).toBe(false);
      expect(each.recall({ ...slot, kid: 'another' })).toBeNull();
      expect(each.recall({ ...slot, namespace: 'logs' })).toBeNull();
      expect(each.recall(live)).toEqual({ isSame: true, answer: '{"affected":1}' });
    }
    await world.clock.advance(600_000);
    expect(next.recall(slot)).toBeNull();
    for (const text of TEXTS) next.settle(await appendAll(next, [text]));
    await quiet();
    expect(world.disk.paths().filter((path) => path.includes('keys-'))).toHaveLength(0);
  });

  test('of a write that was refused are not known', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    const key = world.keyOf('first');
    world.fault = (call) => (call.kind === 'flush' ? { error: 'EIO' } : null);
    await journal.append(entryOf('one', { key })).catch(() => {});
    expect(journal.recall({ ...key, kid: 'local', namespace: 'stats' })).toBeNull();
  });

  test('take less than 100 bytes each', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    collect();
    const before = process.memoryUsage();
    const memory = new KeyMemory();
    for (let number = 0; number < 100_000; number += 1) {
      memory.add(keyRecord(slotOf(number), { position: number, pending: 1, answer: null }), 0, 0);
    }
    collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    expect((arrayBuffers - before.arrayBuffers + heapUsed - before.heapUsed) / memory.size).toBeLessThan(100);
    expect(memory.size).toBe(100_000);
    for (const number of [0, 1, 50_000, 99_999]) expect(memory.find(slotOf(number), 0)?.position).toBe(number);
    expect(memory.find(slotOf(100_000), 0)).toBeNull();
  });
});

/** As they come in ten minutes. */
function slotOf(number: number) {
  const expiresAt = 1 + number * 6;
  return { kid: 'local', namespace: 'stats', key: `key-${number}`, fingerprint: `print-${number}`, expiresAt };
}
