import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { SourceHold } from '#sidecar/moving/source-hold.ts';
import { itDiffers, outcome, useSidecar } from './data-world.ts';
import { healthOf, LATER, PLAIN_READS, pendingOf, SCORES, Scores } from './write-behind-world.ts';

/** A queue that cannot go on, and writes that can never succeed (contract section 7). */

const REQUEST_MS = 1500;
const world = useSidecar({
  config: {
    api: { requestTimeoutMs: REQUEST_MS },
    database: { statementTimeoutMs: 1200 },
    writeBehind: { ...LATER, haltAfterFailures: 3, namespaces: { stuck: {}, well: {}, plain: PLAIN_READS } },
  },
});
let stuck: Scores;
let well: Scores;
/** Another process on the same database. */
let engine: Engine;

beforeAll(async () => {
  engine = await openEngine(loadConfig(world.sidecar.configFile, {}).database, { log: () => {}, now: Date.now });
  stuck = new Scores(world.client, 'stuck');
  well = new Scores(world.client, 'well');
});

beforeEach(async () => {
  for (const scores of [stuck, well]) {
    await scores.declare();
    await scores.call('delete', { all: true, durability: 'immediate' });
  }
});

afterAll(async () => {
  await engine.close();
});

describe('a queue that cannot be applied', () => {
  it('holds up what depends on it with write_buffer_halted in time, and no other namespace', async () => {
    await stuck.insert(1);
    await stuck.add(1, 4);
    // As `copy` does: the namespace is read-only, so that nothing queued can be applied.
    const { hold } = await SourceHold.take('stuck', { engine });
    try {
      const waiting = [
        stuck.add(1, 1, { durability: 'immediate' }),
        stuck.call('find', {}),
        stuck.call('count', {}),
      ].map(async (answer) => {
        const startedMs = performance.now();
        return [outcome(await answer), performance.now() - startedMs < REQUEST_MS];
      });
      expect(await well.insert(1).then(outcome)).toBe('200');
      expect(await well.points()).toEqual([[1, 0]]);
      expect(await Promise.all(waiting)).toEqual(Array(3).fill(['503 write_buffer_halted', true]));
      await vi.waitFor(async () => {
        expect(await healthOf(world.client)).toMatchObject({ status: 'degraded', writeBuffer: { halted: true } });
      }, 15_000);
      expect(await well.flush()).toMatchObject({ halted: false, remaining: 0 });
      expect(await well.add(1, 1, { durability: 'immediate' }).then(outcome)).toBe('200');
      expect(await pendingOf(world.client)).toBe(2);
    } finally {
      await hold.release();
    }
    await vi.waitFor(async () => expect(await stuck.points()).toEqual([[1, 4]]), 40_000);
    await vi.waitFor(async () => expect(await healthOf(world.client)).toMatchObject({ status: 'ok' }), 10_000);
    expect((await healthOf(world.client)).writeBuffer).toMatchObject({ halted: false, pending: 0 });
  });
});

describe('a write that can never succeed', () => {
  it('becomes a dead letter with its error, and the queue goes on', async () => {
    const before = (await healthOf(world.client)).writeBuffer?.deadLetters ?? 0;
    await well.insert(1, { rows: [{ id: 1, label: 'taken' }] });
    const doomed = await well.insert(2, { rows: [{ id: 2, label: 'taken' }] });
    await well.insert(3);
    expect(await well.flush()).toEqual({ flushed: 2, deadLettered: 1, remaining: 0, halted: false, enabled: true });
    expect((await well.points()).map(([id]) => id)).toEqual([1, 3]);
    const letters = await engine.queues.listLetters('well', { deadline: performance.now() + 5000 });
    expect(letters.at(-1)).toMatchObject({
      id: doomed.result.id,
      namespace: 'well',
      kid: 'local',
      op: 'insert',
      code: 'constraint_violation',
    });
    expect(JSON.parse(letters.at(-1)?.payload ?? '')).toMatchObject({ rows: [{ id: 2, label: 'taken' }] });
    expect(await healthOf(world.client)).toMatchObject({ status: 'ok', writeBuffer: { deadLetters: before + 1 } });
  });

  it('one that was valid when it was accepted, and is not after a sync, was applied before the sync', async () => {
    const wide = { name: 'note', type: 'string', length: 30, nullable: true };
    await well.declare(wide);
    await well.insert(1, { rows: [{ id: 1, note: 'a note of some length' }] });
    const narrow = { tables: [{ ...SCORES, columns: [...SCORES.columns, { ...wide, length: 5 }] }] };
    const refused = await world.client.call('schema.sync', { namespace: 'well', schema: narrow });
    expect(outcome(refused)).toBe('409 data_does_not_fit');
    expect(await well.points()).toEqual([[1, 0]]);
  });

  itDiffers('stoppedInsert', () => world.sidecar.capabilities, {
    async can() {
      expect(await stoppedInsert()).toEqual([9]);
    },
    async cannot() {
      expect(await stoppedInsert()).toEqual([1, 9]);
    },
  });

  /** Inserts three rows; the second collides. Returns the rows that are there afterwards. */
  async function stoppedInsert(): Promise<number[]> {
    await well.insert(9, { rows: [{ id: 9, label: 'taken' }] });
    await well.call('insert', { rows: [{ id: 1 }, { id: 2, label: 'taken' }, { id: 3 }] });
    expect(await well.flush()).toMatchObject({ flushed: 1, deadLettered: 1 });
    return (await well.points()).map(([id]) => id);
  }
});
