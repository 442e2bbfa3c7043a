import { describe, expect, test } from 'vitest';
import { ApiError } from '#protocol/errors.ts';
import { parseSchema } from '#protocol/schema.ts';
import type { PendingEntry } from '#sidecar/write-behind/journal/entries.ts';
import type { DiskCall, DiskFault } from '#support/simulated-disk.ts';
import { appendAll, entryOf, FOLDER, JournalWorld, payloadsOf, quiet } from './journal-world.ts';

/** Every such call on a segment fails. */
function failing(kind: DiskCall['kind'], fault: DiskFault): (call: DiskCall) => DiskFault | null {
  return (call) => (call.kind === kind && call.path.endsWith('.log') ? fault : null);
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).code).toBe('write_buffer_unavailable');
  return (error as ApiError).message;
}

describe('a write that the disk refuses', () => {
  test.each<[string, DiskFault]>([
    ['ENOSPC', { error: 'ENOSPC' }],
    ['nothing taken', { short: 0 }],
  ])('(%s) was not accepted, and is not there after a crash', async (_, fault) => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    await appendAll(journal, ['before']);
    world.fault = failing('write', fault);
    expect(await messageOf(journal.append(entryOf('refused')))).toContain('was not accepted');
    expect(journal.stats().isAvailable).toBe(false);
    expect(await messageOf(journal.append(entryOf('later')))).toContain('was not accepted');
    world.fault = () => null;
    expect(await payloadsOf(await world.reopen())).toEqual(['before']);
  });

  test('after a part of it was not accepted either', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    await appendAll(journal, ['before']);
    let writes = 0;
    world.fault = (call) => {
      if (call.kind !== 'write') return null;
      writes += 1;
      return writes === 1 ? { short: 700 } : { error: 'ENOSPC' };
    };
    expect(await messageOf(journal.append(entryOf('x'.repeat(3000))))).toContain('was not accepted');
    world.fault = () => null;
    const opened = await world.reopen();
    expect(await payloadsOf(opened)).toEqual(['before']);
    expect(opened.findings.map((finding) => finding.kind)).toEqual(['torn']);
  });
});

test('a disk that takes a few bytes at a time takes all of them', async () => {
  const world = new JournalWorld({ fault: (call) => (call.kind === 'write' ? { short: 300 } : null) });
  const { journal } = await world.open();
  await appendAll(journal, ['one', 'two '.repeat(500), 'three']);
  expect(await payloadsOf(await world.reopen())).toEqual(['one', 'two '.repeat(500), 'three']);
});

describe('a flush that failed', () => {
  test('leaves the outcome open; its file is never written or flushed again, and another one seals it', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    const [before] = await appendAll(journal, ['before']);
    const path = `${FOLDER}/${String(before?.segment).padStart(8, '0')}.log`;
    world.fault = failing('flush', { error: 'EIO' });
    const open = messageOf(journal.append(entryOf('open')));
    await null;
    await null;
    // The first one is on its way to the disk by now; this one waits for the next flush.
    const waiting = messageOf(journal.append(entryOf('waiting')));
    expect(await open).toContain('outcome of the write is unknown');
    expect(await waiting).toContain('was not accepted');

    const touched: string[] = [];
    world.fault = (call) => {
      if (call.path === path && call.kind !== 'read') touched.push(call.kind);
      return null;
    };
    await world.clock.advance(150);
    expect(journal.stats().isAvailable).toBe(true);
    await appendAll(journal, ['after']);
    expect(touched).toEqual(['open']);
    expect(world.linesOf('info').join()).toContain('can be written again');
    // The group is still in the old file, as its flush may have kept it; the seal leaves it out.
    expect(Buffer.from(world.disk.contentOf(path)).includes('open')).toBe(true);
    expect(await payloadsOf(await world.reopen())).toEqual(['before', 'after']);
  });

  test('may have kept the write: a crash before the seal shows it, and from then on it stays', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    await appendAll(journal, ['before']);
    world.fault = failing('flush', { error: 'EIO' });
    await messageOf(journal.append(entryOf('open')));
    world.fault = () => null;
    const opened = await world.reopen();
    expect(await payloadsOf(opened)).toEqual(['before', 'open']);
    // Bytes that the failed flush did not keep can still be read, until the power fails.
    world.disk.powerCut(() => 0);
    expect(await payloadsOf(await world.open())).toEqual(['before', 'open']);
  });

  test('again and again is tried again by itself, more and more rarely', async () => {
    const world = new JournalWorld();
    const { journal } = await world.open();
    let attempts = 0;
    world.fault = (call) => {
      if (call.kind !== 'flush') return null;
      attempts += 1;
      return { error: 'EIO' };
    };
    await messageOf(journal.append(entryOf('one')));
    await world.clock.advance(60_000);
    expect(attempts).toBeGreaterThan(10);
    expect(attempts).toBeLessThan(25);
    expect(world.linesOf('error')).toHaveLength(1);
    world.fault = () => null;
    await world.clock.advance(5000);
    await appendAll(journal, ['two']);
    expect(await payloadsOf(await world.reopen())).toEqual(['two']);
  });
});

describe('a full disk', () => {
  test('refuses when the next segment cannot be made, goes on when there is space, and loses nothing', async () => {
    const world = new JournalWorld({ segmentBytes: 16_384 });
    const { journal } = await world.open();
    world.fault = (call) => (call.kind === 'open' && call.path.endsWith('.log') ? { error: 'ENOSPC' } : null);
    const kept: string[] = [];
    let refusal = '';
    for (let number = 0; refusal === '' && number < 100; number += 1) {
      await journal.append(entryOf(`entry ${number}`)).then(
        () => kept.push(`entry ${number}`),
        (error: Error) => {
          refusal = error.message;
        },
      );
    }
    expect(refusal).toContain('was not accepted');
    world.fault = () => null;
    await world.clock.advance(10_000);
    await appendAll(journal, ['after']);
    expect(await payloadsOf(await world.reopen())).toEqual([...kept, 'after']);
  });

  test('at start still lets the rest be applied, and takes writes as soon as it can', async () => {
    const world = new JournalWorld();
    await appendAll((await world.open()).journal, ['one']);
    world.disk.kill();
    world.fault = (call) => (call.kind === 'open' && call.path.endsWith('.tmp') ? { error: 'ENOSPC' } : null);
    const opened = await world.open();
    expect(await payloadsOf(opened)).toEqual(['one']);
    expect(opened.journal.stats().isAvailable).toBe(false);
    world.fault = () => null;
    await world.clock.advance(200);
    await appendAll(opened.journal, ['two']);
    expect(await payloadsOf(await world.reopen())).toEqual(['one', 'two']);
  });
});

test('a disk that lies about flushes loses writes, but no position is given twice', async () => {
  const world = new JournalWorld();
  const { journal } = await world.open();
  world.fault = failing('flush', { lie: true });
  const places = await appendAll(journal, ['one', 'two', 'three']);
  world.fault = () => null;
  world.disk.powerCut(() => 0);
  const { journal: next } = await world.open();
  const [place] = await appendAll(next, ['four']);
  expect(place?.position).toBeGreaterThan(places[2]?.position ?? 0);
});

test('one journal, one process: the folder is given back at the end, in whatever way that comes', async () => {
  const world = new JournalWorld();
  const { journal } = await world.open();
  await expect(world.open()).rejects.toThrow('a sidecar already runs with this configuration');
  await journal.close();
  await world.open();
  expect((await world.reopen()).journal.id).toBe(journal.id);
});

test('what is saved of a namespace outlives a power cut', async () => {
  const world = new JournalWorld();
  const { journal } = await world.open();
  const schema = parseSchema({ tables: [{ name: 'kills', columns: [{ name: 'id', type: 'int64' }] }] }).schema;
  const stored = { namespace: 'stats', revision: 3, hash: 'abc', schema, updatedAt: '2026-01-01T00:00:00.000Z' };
  const state = { namespace: 'stats', token: 4, isOwner: true, since: 1, stored };
  await journal.saveNamespace({ ...state, token: 3 });
  const [place] = await appendAll(journal, ['one']);
  journal.settle([place as PendingEntry]);
  await journal.saveNamespace(state);
  world.disk.powerCut(() => 0);
  const opened = await world.open();
  expect(opened.journal.namespaces().get('stats')).toEqual(state);
  expect(opened.pending).toEqual([]);
});

test('a group that was not flushed is made durable at the start, though the next file was being made', async () => {
  const forever = new Promise<never>(() => {});
  const world = new JournalWorld();
  world.fault = ({ kind, path }) => (kind === 'write' && path.endsWith('2.log') ? forever : null);
  const { journal } = await world.open();
  await appendAll(journal, ['one']);
  world.fault = ({ kind, path }) => (kind === 'flush' && path.endsWith('1.log') ? forever : null);
  void journal.append(entryOf('two'));
  await quiet();
  world.fault = () => null;
  const shown = await world.reopen();
  expect(await payloadsOf(shown)).toEqual(['one', 'two']);
  world.disk.powerCut(() => 0);
  const opened = await world.open();
  expect(opened.findings).toEqual([]);
  expect(await payloadsOf(opened)).toEqual(['one', 'two']);
  expect(world.lines).toEqual([]);
});

test('a journal that is closed while it repairs itself does not wait for another attempt', async () => {
  const world = new JournalWorld();
  const { journal } = await world.open();
  world.fault = failing('write', { error: 'EIO' });
  await messageOf(journal.append(entryOf('refused')));
  // The attempt waits for the disk while the journal is closed.
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<DiskFault>();
  world.fault = ({ kind }) => {
    if (kind !== 'write') return null;
    asked.resolve();
    return answer.promise;
  };
  await world.clock.advance(100);
  await asked.promise;
  const closed = journal.close();
  await quiet();
  answer.resolve({ error: 'EIO' });
  await closed;
  expect(journal.stats().isAvailable).toBe(false);
});
