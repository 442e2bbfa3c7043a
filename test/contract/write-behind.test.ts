import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyOf, unique } from '../support/sidecar.ts';
import { outcome, PATIENT, useSidecar } from './data-world.ts';
import { healthOf, LATER, metric, PLAIN_READS, pendingOf, SCORES, Scores } from './write-behind-world.ts';

/** Write-behind seen from outside (the specification's rules 2, 10 and 11; contract section 7). */

const world = useSidecar({
  config: {
    ...PATIENT,
    keys: [keyOf('local'), keyOf('other')],
    writeBehind: { ...LATER, namespaces: { stats: {}, lazy: PLAIN_READS } },
  },
});
let stats: Scores;
let lazy: Scores;
/** Not buffered. */
let game: Scores;

beforeAll(async () => {
  stats = new Scores(world.client, 'stats');
  lazy = new Scores(world.client, 'lazy');
  game = new Scores(world.client, 'game');
});

beforeEach(async () => {
  for (const scores of [stats, lazy, game]) {
    await scores.declare();
    await scores.call('delete', { all: true, durability: 'immediate' });
  }
});

const flushed = (count: number) => ({ flushed: count, deadLettered: 0, remaining: 0, halted: false, enabled: true });

describe('an acknowledgement', () => {
  it('has the form of the specification, counts what waits, and is signed', async () => {
    const first = await lazy.insert(1);
    expect(first.isVerified).toBe(true);
    expect(first.result).toEqual({ queued: true, id: expect.stringMatching(/^[a-z0-9]{10}-\d+$/), pending: 1 });
    const others = [
      await lazy.call('upsert', { row: { id: 2, points: 5 }, keys: ['id'] }),
      await lazy.add(1, 3),
      await lazy.call('delete', { filter: { field: 'id', op: 'eq', value: 9 } }),
    ];
    expect(others.map((answer) => answer.result)).toMatchObject([{ pending: 2 }, { pending: 3 }, { pending: 4 }]);
    expect(new Set([first, ...others].map((answer) => answer.result.id)).size).toBe(4);
    expect(await lazy.points()).toEqual([]);
    expect(await lazy.flush()).toEqual(flushed(4));
    expect(await lazy.points()).toEqual([
      [1, 3],
      [2, 5],
    ]);
  });

  it('of many rows is one write, and pending counts the namespace alone', async () => {
    const rows = Array.from({ length: 50 }, (_, id) => ({ id }));
    expect((await lazy.call('insert', { rows })).result).toMatchObject({ pending: 1 });
    expect((await stats.insert(1)).result).toMatchObject({ pending: 1 });
    expect(await pendingOf(world.client)).toBe(2);
    expect(await lazy.flush()).toEqual(flushed(1));
    expect(await pendingOf(world.client)).toBe(1);
    expect(await stats.flush()).toEqual(flushed(1));
    expect(await lazy.points()).toHaveLength(50);
  });

  it('is not given where the namespace is not buffered, or the write is immediate', async () => {
    expect((await game.insert(1)).result).toEqual({ inserted: 1, ids: [1] });
    expect((await stats.insert(1, { durability: 'immediate' })).result).toEqual({ inserted: 1, ids: [1] });
    expect((await stats.add(1, 1, { durability: 'immediate' })).result).toEqual({ affected: 1 });
  });

  it('is given for a write of a table that the last sync has made, and refused for one that it has removed', async () => {
    const schema = { tables: [SCORES, { ...SCORES, name: 'more' }] };
    await world.client.must('schema.sync', { namespace: 'stats', schema });
    expect((await stats.call('insert', { table: 'more', rows: [{ id: 1 }] })).result).toMatchObject({ queued: true });
    await stats.declare();
    expect(outcome(await stats.call('insert', { table: 'more', rows: [{ id: 2 }] }))).toBe('404 unknown_table');
  });

  it('defaults that are made at insertion are made', async () => {
    await lazy.declare(
      { name: 'at', type: 'datetime', default: 'now' },
      { name: 'tag', type: 'uuid', default: 'random' },
    );
    const before = Date.now();
    await lazy.call('insert', { rows: [{ id: 1 }, { id: 2 }] });
    const after = Date.now();
    // It is the time of the call, not of the flush.
    await expect.poll(() => Date.now()).toBeGreaterThan(after + 20);
    await lazy.flush();
    const { rows } = await world.client.must<{ rows: { at: string; tag: string }[] }>('find', {
      namespace: 'lazy',
      table: 'scores',
      fields: ['at', 'tag'],
    });
    for (const { at } of rows) {
      expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(at)).toBeLessThanOrEqual(after);
    }
    expect(new Set(rows.map((row) => row.tag)).size).toBe(2);
  });
});

describe('order', () => {
  it('is that of the acknowledgements: the last value wins, and what was deleted stays away', async () => {
    await stats.insert(1);
    await stats.insert(2);
    for (let points = 1; points <= 40; points += 1) {
      await stats.set(1, points);
      if (points % 10 === 0) await stats.add(1, 1000);
    }
    await stats.call('delete', { filter: { field: 'id', op: 'eq', value: 2 } });
    await stats.insert(3);
    await stats.call('delete', { filter: { field: 'id', op: 'eq', value: 3 } });
    await stats.insert(3, { rows: [{ id: 3, points: 7 }] });
    expect(await stats.points()).toEqual([
      [1, 1040],
      [3, 7],
    ]);
  });

  it('holds when batches are cut at different places while it is written', async () => {
    await stats.insert(1);
    const flushes: Promise<unknown>[] = [];
    for (let points = 1; points <= 200; points += 1) {
      expect((await stats.set(1, points)).ok).toBe(true);
      if (points % 7 === 0) flushes.push(stats.flush());
    }
    await Promise.all(flushes);
    expect(await stats.points()).toEqual([[1, 200]]);
  });

  it('of many writers at once: every increment counts once', async () => {
    await stats.insert(1);
    await Promise.all(Array.from({ length: 300 }, () => stats.add(1, 1)));
    expect(await stats.points()).toEqual([[1, 300]]);
  });

  it('an immediate write comes after those that were queued before it, and sees them', async () => {
    await lazy.insert(1);
    await lazy.add(1, 5);
    expect((await lazy.add(1, 1, { durability: 'immediate' })).result).toEqual({ affected: 1 });
    expect(await lazy.points()).toEqual([[1, 6]]);
    expect(await pendingOf(world.client)).toBe(0);
  });
});

describe('what drains first', () => {
  it('consistent reads: find and count see what was acknowledged', async () => {
    await stats.insert(1);
    expect(await world.client.must('count', { namespace: 'stats', table: 'scores' })).toEqual({ count: 1 });
    await stats.add(1, 2);
    expect(await stats.points()).toEqual([[1, 2]]);
  });

  it('not reads without consistentReads, and not describe', async () => {
    await lazy.insert(1);
    expect(await lazy.points()).toEqual([]);
    expect(await world.client.must('count', { namespace: 'lazy', table: 'scores' })).toEqual({ count: 0 });
    await stats.insert(1);
    await world.client.must('schema.describe', { namespace: 'stats' });
    expect(await pendingOf(world.client)).toBe(2);
    await lazy.flush();
    expect(await lazy.points()).toEqual([[1, 0]]);
  });

  it('a schema sync, a dry run and an unchanged one too', async () => {
    const column = { name: 'level', type: 'int32', nullable: true };
    const sync = (dryRun: boolean, ...more: object[]) =>
      world.client.must('schema.sync', {
        namespace: 'stats',
        dryRun,
        schema: { tables: [{ ...SCORES, columns: [...SCORES.columns, ...more] }] },
      });
    await stats.insert(1);
    expect(await sync(true, column)).toMatchObject({ status: 'planned' });
    expect(await pendingOf(world.client)).toBe(0);
    await stats.insert(2);
    expect(await sync(false)).toMatchObject({ status: 'unchanged' });
    expect(await pendingOf(world.client)).toBe(0);
    await stats.insert(3);
    expect(await sync(false, column)).toMatchObject({ status: 'applied' });
    expect(await pendingOf(world.client)).toBe(0);
    expect(await stats.points()).toHaveLength(3);
  });

  it('a sync in the midst of writes: none is lost, and none is refused for it', async () => {
    const answers = Array.from({ length: 200 }, (_, id) => stats.insert(id));
    await stats.declare({ name: 'level', type: 'int32', default: 4 });
    expect(new Set((await Promise.all(answers)).map(outcome))).toEqual(new Set(['200']));
    expect(await stats.points()).toHaveLength(200);
    expect((await healthOf(world.client)).writeBuffer).toMatchObject({ pending: 0, deadLetters: 0 });
  });
});

describe('a sync that removes a column under load', () => {
  it('leaves nothing behind that was checked against the old schema', async () => {
    await stats.declare({ name: 'level', type: 'int32', nullable: true });
    let isOver = false;
    let id = 0;
    const outcomes: string[] = [];
    const writers = Array.from({ length: 12 }, async () => {
      while (!isOver) outcomes.push(outcome(await stats.call('insert', { rows: [{ id: id++, level: 1 }] })));
    });
    await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(50), 30_000);
    await stats.declare();
    isOver = true;
    await Promise.all(writers);
    expect(new Set(outcomes)).toEqual(new Set(['200', '400 unknown_column']));
    // On a slow database more than a find answers with.
    expect((await stats.call('count', {})).result).toEqual({ count: outcomes.filter((each) => each === '200').length });
    expect((await healthOf(world.client)).writeBuffer).toMatchObject({ pending: 0, deadLetters: 0 });
  });
});

describe('a key', () => {
  const keyed = () => ({ idempotencyKey: unique('k') });

  it('sent many times at once is one write with one acknowledgement', async () => {
    const key = keyed();
    await stats.insert(1);
    const answers = await Promise.all(Array.from({ length: 30 }, () => stats.add(1, 1, key)));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers[0]?.result).toMatchObject({ queued: true, pending: 2 });
    expect(await stats.points()).toEqual([[1, 1]]);
  });

  it('is looked up before anything is validated, and belongs to its caller and namespace', async () => {
    const key = keyed();
    const ack = await stats.insert(1, key);
    await world.client.must('schema.sync', { namespace: 'stats', schema: { tables: [] } });
    expect((await stats.insert(1, key)).text).toBe(ack.text);
    expect(outcome(await stats.insert(1, keyed()))).toBe('404 unknown_table');
    expect((await game.insert(1, key)).result).toEqual({ inserted: 1, ids: [1] });
    const other = new Scores(world.sidecar.clientOf('other'), 'lazy');
    const own = await lazy.insert(1, key);
    expect((await other.insert(2, key)).result).toMatchObject({ queued: true, pending: 2 });
    expect((await lazy.insert(1, key)).text).toBe(own.text);
    expect(await lazy.flush()).toEqual(flushed(2));
  });

  it('of a write that was refused is not remembered', async () => {
    const key = keyed();
    expect(outcome(await stats.call('insert', { rows: [{}], ...key }))).toBe('400 missing_value');
    expect((await stats.insert(1, key)).result).toMatchObject({ queued: true });
  });
});

describe('flush', () => {
  it('of nothing says so, and that it is on', async () => {
    expect(await stats.flush()).toEqual(flushed(0));
  });

  it('of a namespace that is not buffered says that it is off', async () => {
    expect(await game.flush()).toEqual({ ...flushed(0), enabled: false });
  });

  it('twice at once: both wait for the same writes', async () => {
    await lazy.insert(1);
    const [first, second] = await Promise.all([lazy.flush(), lazy.flush()]);
    expect(first).toMatchObject({ remaining: 0, enabled: true });
    expect(second).toMatchObject({ remaining: 0, enabled: true });
    expect(await lazy.points()).toEqual([[1, 0]]);
  });

  it('of an unknown namespace is 404', async () => {
    expect(outcome(await world.client.call('flush', { namespace: unique('never') }))).toBe('404 namespace_unknown');
  });
});

describe('health and metrics', () => {
  it('count what waits over all namespaces', async () => {
    const before = await healthOf(world.client);
    expect(before.writeBuffer).toEqual({
      enabled: true,
      pending: 0,
      oldestAgeSeconds: 0,
      halted: false,
      deadLetters: 0,
      available: true,
    });
    await stats.insert(1);
    await lazy.insert(1);
    expect(await metric(world.client, 'sidecar_write_buffer_pending')).toBe(2);
    const ageOf = async () => (await healthOf(world.client)).writeBuffer?.oldestAgeSeconds;
    await expect.poll(ageOf).toBeGreaterThanOrEqual(1);
    await stats.flush();
    await lazy.flush();
    expect(await metric(world.client, 'sidecar_write_buffer_pending')).toBe(0);
    expect((await healthOf(world.client)).writeBuffer).toMatchObject({ pending: 0, oldestAgeSeconds: 0 });
    expect(await metric(world.client, 'sidecar_journal_flushes_total')).toBeGreaterThan(1);
    expect(await metric(world.client, 'sidecar_write_buffer_applied_total')).toBeGreaterThan(1);
    expect(await metric(world.client, 'sidecar_journal_available')).toBe(1);
  });
});
