import { beforeEach, describe, expect, it } from 'vitest';
import { BufferWorld } from './buffer-world.ts';

let world: BufferWorld;

beforeEach(() => {
  world = new BufferWorld();
});

const QUEUED = /^{"queued":true,/;
const NONE = { namespaces: new Map() };

describe('a queued write', () => {
  it('is applied when it has waited for its time', async () => {
    const buffer = await world.start(world.box());
    expect(await world.write(buffer, 1)).toMatch(QUEUED);
    await world.time.pass(900);
    expect(world.applied).toEqual([]);
    await world.time.pass(200);
    expect(world.applied).toEqual([1]);
  });

  it('does not wait when enough of them are there', async () => {
    const buffer = await world.start(world.box(), { flushAtPending: 2 });
    await world.write(buffer, 1);
    await world.write(buffer, 2);
    await world.time.pass(50);
    expect(world.applied).toEqual([1, 2]);
  });

  it('is refused where the queue is full, and accepted when there is room again', async () => {
    const buffer = await world.start(world.box(), { maxPending: 2 });
    for (const n of [1, 2]) expect(await world.write(buffer, n)).toMatch(QUEUED);
    expect(await world.write(buffer, 3)).toBe('write_buffer_full');
    await world.time.pass(2000);
    expect(await world.write(buffer, 4)).toMatch(/"pending":1}$/);
    await world.time.pass(2000);
    expect(world.applied).toEqual([1, 2, 4]);
  });

  it('of a full queue is refused with one line in the log, and one when there is room, once a minute at most', async () => {
    const box = world.box();
    const buffer = await world.start(box, { maxPending: 4 });
    const told = () => box.log.flatMap((line) => /maxPending allows|there is room/.exec(line)?.[0] ?? []);
    const fill = async (first: number) => {
      for (let n = first; n < first + 7; n += 1) await world.write(buffer, n);
      await world.time.pass(2000);
    };
    await fill(1);
    expect(world.applied).toEqual([1, 2, 3, 4]);
    const once = ['maxPending allows', 'there is room'];
    expect(told()).toEqual(once);
    await fill(11);
    expect(told()).toEqual(once);
    await world.time.pass(60_000);
    await fill(21);
    expect(told()).toEqual([...once, ...once]);
  });

  it('is refused by the bytes of what waits, too', async () => {
    const buffer = await world.start(world.box(), { flushIntervalMs: 60_000 });
    const payload = JSON.stringify({ namespace: 'a', table: 't', rows: [{ n: 1 }], note: 'x'.repeat(600_000) });
    const write = { namespace: 'a', kid: 'k', op: 'insert', payload, slot: null } as const;
    const answers = Promise.allSettled([buffer.accept(write), buffer.accept(write)]);
    await world.time.pass(50);
    const [first, second] = await answers;
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'write_buffer_full' } });
  });
});

describe('with the database away', () => {
  it('writes are accepted by a journal that owned the queue last, and applied in order later', async () => {
    const box = world.box();
    await world.write(await world.start(box), 1);
    world.database.weather = 'away';
    const buffer = await world.restart(box);
    expect(await world.write(buffer, 2)).toMatch(QUEUED);
    world.database.weather = 'fine';
    await world.time.pass(40_000);
    expect(world.applied).toEqual([1, 2]);
  });

  it('writes are refused where the queue was never owned, until the database answers', async () => {
    world.database.weather = 'away';
    const buffer = await world.start(world.box());
    expect(await world.write(buffer, 1)).toBe('write_buffer_unavailable');
    world.database.weather = 'fine';
    await world.time.pass(40_000);
    expect(await world.write(buffer, 2)).toMatch(QUEUED);
  });

  it('the queue halts after some failures, refuses drains at once, and goes on by itself', async () => {
    const box = world.box();
    const buffer = await world.start(box);
    world.database.weather = 'away';
    await world.write(buffer, 1);
    expect(buffer.health()).toMatchObject({ halted: false, pending: 1 });
    await world.time.pass(5000);
    expect(buffer.health()).toMatchObject({ halted: true, pending: 1, oldestAgeSeconds: 5 });
    expect(await world.drain(buffer, 100)).toBe('write_buffer_halted');
    world.database.weather = 'fine';
    await world.time.pass(30_000);
    expect(world.applied).toEqual([1]);
    expect(buffer.health()).toMatchObject({ halted: false, pending: 0, oldestAgeSeconds: 0 });
    expect(box.log.filter((line) => / error | info /.test(line))).toEqual([
      expect.stringContaining('cannot be applied'),
      expect.stringContaining('applied again'),
    ]);
  });

  it('a flush says what is left', async () => {
    const buffer = await world.start(world.box());
    await world.write(buffer, 1);
    world.database.weather = 'hanging';
    const flushing = buffer.flush('a', world.time.nowMs + 500);
    await world.time.pass(501);
    expect(await flushing).toEqual({ flushed: 0, deadLettered: 0, remaining: 1, halted: false, enabled: true });
  });
});

describe('a drain', () => {
  it('applies what was acknowledged before at once, and wakes a queue that rests', async () => {
    const buffer = await world.start(world.box(), { flushIntervalMs: 60_000 });
    await world.write(buffer, 1);
    expect(await world.drain(buffer, 100)).toBe('done');
    expect(world.applied).toEqual([1]);
    world.database.weather = 'away';
    await world.write(buffer, 2);
    expect(await world.drain(buffer, 4000)).toBe('write_buffer_halted');
    world.database.weather = 'fine';
    expect(await world.drain(buffer, 100)).toBe('done');
    expect(world.applied).toEqual([1, 2]);
  });

  it('ends at its deadline where the database hangs', async () => {
    const buffer = await world.start(world.box());
    world.database.weather = 'hanging';
    await world.write(buffer, 1);
    expect(await world.drain(buffer, 700)).toBe('write_buffer_halted');
  });

  it('of a namespace that is not queued has nothing to wait for', async () => {
    const buffer = await world.start(world.box());
    expect(await world.drain(buffer, 1, 'other')).toBe('done');
  });
});

describe('a stop', () => {
  it('applies what waits', async () => {
    const box = world.box();
    await world.write(await world.start(box), 1);
    void box.stop();
    await world.time.pass(100);
    expect(world.applied).toEqual([1]);
    expect(box.isDown).toBe(true);
  });

  it('says what is left, which the next start applies', async () => {
    const box = world.box();
    await world.write(await world.start(box), 1);
    world.database.weather = 'hanging';
    void box.stop();
    await world.time.pass(5100);
    expect(box.isDown).toBe(true);
    expect(box.log.at(-1)).toContain('stay in the journal');
    world.database.weather = 'fine';
    await world.start(box);
    await world.time.pass(200);
    expect(world.applied).toEqual([1]);
  });
});

describe('a write that can never be applied', () => {
  it('is a dead letter, and those after it are applied; a retry brings it', async () => {
    const buffer = await world.start(world.box());
    world.database.refused.add(1);
    for (const n of [1, 2]) await world.write(buffer, n);
    await world.time.pass(2000);
    expect(world.applied).toEqual([2]);
    expect(world.letters).toEqual([[1, 'constraint_violation']]);
    expect(buffer.health()).toMatchObject({ deadLetters: 1, pending: 0 });
    world.database.refused.clear();
    for (const id of world.database.letters.keys()) world.database.wantRetry(id);
    await world.time.pass(5000);
    expect(world.applied).toEqual([2, 1]);
    expect(buffer.health().deadLetters).toBe(0);
  });

  it('is one whose column a sync has taken, and not one that only an older copy of the schema refuses', async () => {
    world.database.changeSchema(false);
    const buffer = await world.start(world.box());
    await world.write(buffer, 1);
    await world.time.pass(2000);
    const payload = JSON.stringify({ namespace: 'a', table: 't', rows: [{ n: 2, extra: 1 }] });
    world.database.changeSchema(true);
    void buffer.accept({ namespace: 'a', kid: 'k', op: 'insert', payload, slot: null });
    await world.time.pass(2000);
    expect([world.applied, world.letters]).toEqual([[1, 2], []]);
    world.database.changeSchema(false);
    void buffer.accept({ namespace: 'a', kid: 'k', op: 'insert', payload: payload.replace('2', '3'), slot: null });
    await world.time.pass(2000);
    expect(world.letters).toEqual([[3, 'unknown_column']]);
  });

  it('is one whose table was dropped by hand', async () => {
    const buffer = await world.start(world.box());
    world.database.dropTable(true);
    for (const n of [1, 2]) await world.write(buffer, n);
    await world.time.pass(4000);
    expect(world.letters).toEqual([]);
    await world.time.pass(16_000);
    expect(world.letters).toEqual([
      [1, 'database_error'],
      [2, 'database_error'],
    ]);
    expect(buffer.health()).toMatchObject({ halted: false, pending: 0 });
  });
});

describe('a queue', () => {
  it('is served by each sidecar from its own journal', async () => {
    const [one, two] = [await world.start(world.box('first')), await world.start(world.box('second'))];
    for (const n of [1, 3]) expect(await world.write(one, n)).toMatch(QUEUED);
    for (const n of [2, 4]) expect(await world.write(two, n)).toMatch(QUEUED);
    await world.time.pass(2000);
    expect(world.applied.toSorted()).toEqual([1, 2, 3, 4]);
    expect(world.letters).toEqual([]);
  });

  it.each([
    ['less than a minute, goes on', 50_000, [1, 3, 2]],
    ['over a minute, makes letters of what others have overtaken', 70_000, [1, 3]],
  ])('of a box that was dead for %s', async (_, awayMs, applied) => {
    const first = world.box('first');
    const buffer = await world.start(first);
    await world.write(buffer, 1);
    await world.time.pass(2000);
    await world.write(buffer, 2);
    const other = await world.start(world.box('second'));
    first.crash('kill');
    expect(await world.write(other, 3)).toMatch(QUEUED);
    await world.time.pass(awayMs);
    const back = await world.start(first);
    await world.time.pass(3000);
    expect(world.applied).toEqual(applied);
    expect(world.letters).toEqual(applied.length < 3 ? [[2, 'write_buffer_unavailable']] : []);
    expect(await world.write(back, 4)).toMatch(QUEUED);
    await world.time.pass(2000);
    expect(world.applied).toEqual([...applied, 4]);
  });

  it('of a box that was dead for long is applied if nobody else has written since', async () => {
    const first = world.box('first');
    const other = await world.start(world.box('second'));
    await world.write(other, 1);
    await world.time.pass(3000);
    await world.write(await world.start(first), 2);
    first.crash('kill');
    await world.time.pass(600_000);
    await world.start(first);
    await world.time.pass(3000);
    expect([world.applied, world.letters]).toEqual([[1, 2], []]);
  });

  it('under restored rows leaves dead letters of what was not applied, and nothing twice', async () => {
    const first = world.box('first');
    const buffer = await world.start(first);
    await world.write(buffer, 1);
    await world.time.pass(2000);
    await world.write(buffer, 2);
    first.crash('kill');
    world.database.fence('a');
    await world.start(first);
    await world.time.pass(3000);
    expect([world.applied, world.letters]).toEqual([[1], [[2, 'write_buffer_unavailable']]]);
  });

  it('under restored rows holds nothing, even if the journal’s disk cannot note it', async () => {
    let isFull = false;
    const box = world.box('box', ({ kind }) => (isFull && kind === 'rename' ? { error: 'ENOSPC' } : null));
    const buffer = await world.start(box);
    await world.write(buffer, 1);
    world.database.fence('a');
    isFull = true;
    await world.time.pass(5000);
    expect(world.letters).toEqual([[1, 'write_buffer_unavailable']]);
    expect(buffer.overview()).toMatchObject([{ pending: 0, isForeign: false }]);
  });

  it('under restored rows has a write that was on its way to the disk as a letter, and not twice', async () => {
    const calls = { flush: 0, read: 0 };
    let isSlow = false;
    const written = Promise.withResolvers<null>();
    const box = world.box('box', ({ kind }) => {
      if (!isSlow || (kind !== 'flush' && kind !== 'read')) return null;
      calls[kind] += 1;
      if (calls[kind] !== 2) return null;
      if (kind === 'flush') return written.promise;
      // The letter of the one before it is being made.
      written.resolve(null);
      return new Promise((resolve) => world.time.after(50, () => resolve(null)));
    });
    const buffer = await world.start(box, { flushAtPending: 1 });
    await world.write(buffer, 1);
    await world.time.pass(1000);
    world.database.fence('a');
    const accept = (n: number) => {
      const payload = JSON.stringify({ namespace: 'a', table: 't', rows: [{ n }] });
      return buffer.accept({ namespace: 'a', kid: 'k', op: 'insert', payload, slot: null });
    };
    isSlow = true;
    const accepted = accept(2).then(() => accept(3));
    await world.time.pass(500);
    expect(await accepted).toMatch(QUEUED);
    const letters = [2, 3].map((n) => [n, 'write_buffer_unavailable']);
    expect([world.applied, world.letters]).toEqual([[1], letters]);
    await world.restart(box);
    await world.time.pass(2000);
    expect([world.applied, world.letters]).toEqual([[1], letters]);
  });

  it('of a namespace that is no longer listed is applied at the start, and then not served', async () => {
    const first = world.box('first');
    await world.write(await world.start(first), 1);
    const buffer = await world.restart(first, NONE);
    expect(world.applied).toEqual([1]);
    await world.time.pass(1000);
    expect(buffer.mustDrain('a')).toBe(false);
    const other = await world.start(world.box('second'));
    expect(await world.write(other, 2)).toMatch(QUEUED);
  });
});

describe('two sidecars with copies of one journal', () => {
  it('do not lose what either acknowledged', async () => {
    const [first, second] = [world.box('first'), world.box('second')];
    await world.write(await world.start(first), 1);
    void first.stop();
    await world.time.pass(1000);
    first.backup()(second);
    const [one, two] = [await world.start(first), await world.start(second)];
    for (const n of [2, 3]) expect(await world.write(one, n)).toMatch(QUEUED);
    await world.time.pass(2000);
    for (const n of [4, 5, 6]) expect(await world.write(two, n)).toMatch(QUEUED);
    await world.time.pass(5000);
    expect(world.applied.slice(0, 3)).toEqual([1, 2, 3]);
    expect([...world.applied, ...world.letters.map(([n]) => n)].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(second.log.join()).toContain('with a copy of this journal?');
  });
});

describe('after a restore', () => {
  it('of the database, what comes is applied once, and a line says what is gone', async () => {
    const box = world.box();
    const buffer = await world.start(box);
    await world.write(buffer, 1);
    await world.time.pass(2000);
    const restore = world.database.backup();
    await world.write(buffer, 2);
    await world.time.pass(2000);
    await world.write(buffer, 3);
    box.crash('kill');
    restore();
    await world.write(await world.start(box), 4);
    await world.time.pass(2000);
    expect(world.applied).toEqual([1, 3, 4]);
  });

  it('of the database, found at a clean start', async () => {
    const box = world.box();
    const buffer = await world.start(box);
    const restore = world.database.backup();
    await world.write(buffer, 1);
    void box.stop();
    await world.time.pass(1000);
    restore();
    await world.start(box);
    expect(box.log.join()).toContain('the database is older than the journal');
  });

  it('of the journal, what comes is applied, and a line says that writes may be lost', async () => {
    const box = world.box();
    const buffer = await world.start(box);
    await world.write(buffer, 1);
    void box.stop();
    await world.time.pass(1000);
    const restore = box.backup();
    const later = await world.start(box);
    for (const n of [2, 3, 4]) await world.write(later, n);
    void box.stop();
    await world.time.pass(1000);
    restore();
    await world.write(await world.start(box), 5);
    await world.time.pass(2000);
    expect(world.applied).toEqual([1, 2, 3, 4, 5]);
    expect(box.log.join()).toContain('the journal is older than the database');
  });

  it('of nothing: a database that never had the queue takes no writes that wait for another', async () => {
    const box = world.box();
    const empty = world.database.backup();
    await world.write(await world.start(box), 1);
    box.crash('kill');
    empty();
    const buffer = await world.start(box);
    expect(await world.write(buffer, 2)).toBe('write_buffer_unavailable');
    expect(await world.drain(buffer, 100)).toBe('write_buffer_halted');
    expect(box.log.join()).toContain('is it the right database?');
    expect(world.applied).toEqual([]);
    world.database.adopt('a', box.journalId ?? '');
    await world.time.pass(3000);
    expect(world.applied).toEqual([1]);
    expect(box.log.join()).toContain('the queue goes to this database now');
  });
});
