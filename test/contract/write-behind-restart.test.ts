import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { SourceHold } from '#sidecar/moving/source-hold.ts';
import type { SidecarOptions, TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { outcome, PATIENT } from './data-world.ts';
import { healthOf, LATER, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** Waiting writes and remembered keys over a stop and a start (contract section 7). */

const START_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
/** A stop leaves everything in the journal. */
const LEFT = { ...LATER, drainOnStopMs: 0 };

let folder: string;
let database: TestDatabase;
let nowMs: number;

beforeEach(async () => {
  folder = testFolder();
  database = await newDatabase();
  nowMs = START_MS;
});

afterEach(async () => {
  await database.drop();
});
// After that: hooks of the end run from the last one to the first.
const start = sidecarsOfTest();

/** A sidecar on the same folder and database as the one before. */
function next(writeBehind: object, more: Partial<SidecarOptions> = {}): Promise<TestSidecar> {
  return start({ folder, database, now: () => nowMs, ...more, config: { ...PATIENT, writeBehind } });
}

const STATS = { namespaces: { stats: {} } };
const scoresOf = (sidecar: TestSidecar) => new Scores(sidecar.client, 'stats');

describe('a stop', () => {
  it('applies what waits', async () => {
    const first = await next({ ...LATER, ...STATS });
    await scoresOf(first).declare();
    for (let id = 0; id < 30; id += 1) await scoresOf(first).insert(id);
    await first.stop();
    expect(first.log.at(-1)).toMatchObject({ msg: 'stopped', queuedWrites: 0 });
    const plain = await start({ database, config: PATIENT });
    expect(await scoresOf(plain).points()).toHaveLength(30);
  });

  it('with drainOnStopMs 0 leaves it to the next start, and both say how much', async () => {
    const first = await next({ ...LEFT, ...STATS });
    await scoresOf(first).declare();
    for (let id = 0; id < 3; id += 1) await scoresOf(first).insert(id);
    await first.stop();
    const plain = await start({ database, config: PATIENT });
    expect(await scoresOf(plain).points()).toEqual([]);
    expect(first.log.at(-1)).toMatchObject({ msg: 'stopped', queuedWrites: 3 });
    expect(first.log).toContainEqual(expect.objectContaining({ level: 'warn', namespace: 'stats', writes: 3 }));

    const second = await next({ ...LEFT, ...STATS });
    expect(second.log).toContainEqual(expect.objectContaining({ level: 'info', namespace: 'stats', writes: 3 }));
    await scoresOf(second).insert(3);
    expect(await scoresOf(second).points()).toHaveLength(4);
  });

  it('and starts over and over lose nothing, double nothing, and keep the order', async () => {
    const first = await next({ ...LEFT, ...STATS });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    await first.stop();
    const ids = new Set<unknown>();
    for (let round = 1; round <= 5; round += 1) {
      const sidecar = await next({ ...(round % 2 === 0 ? LEFT : LATER), ...STATS });
      ids.add((await scoresOf(sidecar).add(1, 1)).result.id);
      ids.add((await scoresOf(sidecar).set(1, round * 100)).result.id);
      ids.add((await scoresOf(sidecar).add(1, round)).result.id);
      if (round === 3) await scoresOf(sidecar).flush();
      await sidecar.stop();
    }
    expect(ids.size).toBe(15);
    const last = await next({ ...LATER, ...STATS });
    expect(await scoresOf(last).points()).toEqual([[1, 505]]);
  });
});

describe('a namespace that is no longer listed', () => {
  it('is drained at the start, before writes that are live now', async () => {
    const first = await next({ ...LEFT, ...STATS });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    await scoresOf(first).set(1, 5);
    await first.stop();
    const second = await next({ ...LEFT, namespaces: {} });
    expect((await scoresOf(second).add(1, 1)).result).toEqual({ affected: 1 });
    expect(await scoresOf(second).points()).toEqual([[1, 6]]);
    await vi.waitFor(async () => expect((await healthOf(second.client)).writeBuffer).toBeUndefined(), 10_000);
    expect(await scoresOf(second).flush()).toMatchObject({ enabled: false, remaining: 0 });
    await second.stop();
    // It is given up, so that another sidecar may take it.
    const elsewhere = testFolder();
    const other = await start({ folder: elsewhere, database, config: { ...PATIENT, writeBehind: STATS } });
    await vi.waitFor(async () => expect(outcome(await scoresOf(other).add(1, 1))).toBe('200'), 10_000);
    expect(await scoresOf(other).points()).toEqual([[1, 7]]);
    await other.stop();
  });
});

describe('what cannot be applied at the stop, nor at the next start', () => {
  it('waits no longer than drainOnStopMs, and is drained before the first live write and read', async () => {
    const first = await next({ ...LATER, ...STATS, drainOnStopMs: 300 });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    await scoresOf(first).set(1, 5);
    const engine = await openEngine(loadConfig(first.configFile, {}).database, { log: () => {}, now: Date.now });
    const { hold } = await SourceHold.take('stats', { engine });
    const startedMs = performance.now();
    await first.stop();
    expect(performance.now() - startedMs).toBeLessThan(8000);
    expect(first.log.at(-1)).toMatchObject({ msg: 'stopped', queuedWrites: 2 });

    const short = { api: { requestTimeoutMs: 1500 }, database: { statementTimeoutMs: 1200 } };
    const second = await start({ folder, database, config: { ...short, writeBehind: { ...LEFT, namespaces: {} } } });
    expect((await healthOf(second.client)).writeBuffer).toMatchObject({ enabled: false, pending: 2 });
    expect(outcome(await scoresOf(second).call('find', {}))).toBe('503 write_buffer_halted');
    await hold.release();
    await engine.close();
    expect(outcome(await scoresOf(second).add(1, 1))).toBe('200');
    expect(await scoresOf(second).points()).toEqual([[1, 6]]);
  });
});

describe('a key', () => {
  const keyed = { idempotencyKey: 'k' };

  it('is answered with the first acknowledgement, waiting or applied, also by the next sidecar', async () => {
    const first = await next({ ...LEFT, ...STATS });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    const ack = await scoresOf(first).add(1, 1, keyed);
    expect(ack.result).toMatchObject({ queued: true, pending: 2 });
    expect((await scoresOf(first).add(1, 1, keyed)).text).toBe(ack.text);
    await first.stop();

    const second = await next({ ...LEFT, ...STATS });
    expect((await scoresOf(second).add(1, 1, keyed)).text).toBe(ack.text);
    await scoresOf(second).flush();
    expect((await scoresOf(second).add(1, 1, keyed)).text).toBe(ack.text);
    await second.stop();

    const third = await next({ ...LEFT, ...STATS });
    nowMs += 9 * MINUTE_MS;
    expect((await scoresOf(third).add(1, 1, keyed)).text).toBe(ack.text);
    expect(outcome(await scoresOf(third).add(1, 2, keyed))).toBe('422 idempotency_conflict');
    expect(outcome(await scoresOf(third).insert(7, keyed))).toBe('422 idempotency_conflict');
    expect(await scoresOf(third).points()).toEqual([[1, 1]]);
    nowMs += 2 * MINUTE_MS;
    expect((await scoresOf(third).add(1, 2, keyed)).result).toMatchObject({ queued: true });
    expect(await scoresOf(third).points()).toEqual([[1, 3]]);
  });

  it('is shared by queued and immediate writes', async () => {
    const immediate = { durability: 'immediate' };
    const sidecar = await next({ ...LATER, ...STATS });
    const scores = scoresOf(sidecar);
    await scores.declare();
    const ack = await scores.insert(1, keyed);
    expect(outcome(await scores.insert(1, { ...keyed, ...immediate }))).toBe('422 idempotency_conflict');
    expect((await scores.insert(1, keyed)).text).toBe(ack.text);

    // By now the database is not asked any more for keys of writes from before the namespace was buffered.
    nowMs += 11 * MINUTE_MS;
    const live = await scores.add(1, 1, { idempotencyKey: 'live', ...immediate });
    expect(live.result).toEqual({ affected: 1 });
    expect(outcome(await scores.add(1, 1, { idempotencyKey: 'live' }))).toBe('422 idempotency_conflict');
    expect((await scores.add(1, 1, { idempotencyKey: 'live', ...immediate })).text).toBe(live.text);
    await sidecar.stop();
    const second = await next({ ...LATER, ...STATS });
    expect((await scoresOf(second).add(1, 1, { idempotencyKey: 'live', ...immediate })).text).toBe(live.text);
    expect(await scoresOf(second).points()).toEqual([[1, 1]]);
  });

  it('of a live write counts on when the namespace is buffered since, and of a queued one when it is no longer', async () => {
    const plain = await next({ ...LATER, namespaces: {} });
    await scoresOf(plain).declare();
    await scoresOf(plain).insert(1);
    const live = await scoresOf(plain).add(1, 1, keyed);
    expect(live.result).toEqual({ affected: 1 });
    await plain.stop();

    const buffering = await next({ ...LATER, ...STATS });
    expect((await scoresOf(buffering).add(1, 1, keyed)).text).toBe(live.text);
    expect(outcome(await scoresOf(buffering).add(1, 2, keyed))).toBe('422 idempotency_conflict');
    const ack = await scoresOf(buffering).add(1, 10, { idempotencyKey: 'queued' });
    expect(ack.result).toMatchObject({ queued: true });
    await buffering.stop();

    const again = await next({ ...LATER, namespaces: {} });
    expect((await scoresOf(again).add(1, 10, { idempotencyKey: 'queued' })).text).toBe(ack.text);
    expect(await scoresOf(again).points()).toEqual([[1, 11]]);
  });
});

describe('another database than the one for which writes were acknowledged', () => {
  it('gets none of them, and the sidecar says so', async () => {
    const first = await next({ ...LEFT, ...STATS });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    await first.stop();
    const wrong = await newDatabase();
    const second = await next({ ...LEFT, ...STATS }, { database: wrong });
    expect(JSON.stringify(second.log)).toMatch(/"level":"error"[^}]*is it the right database/);
    expect((await scoresOf(second).insert(2)).ok).toBe(false);
    const sync = await second.client.call('schema.sync', { namespace: 'stats', schema: { tables: [] } });
    expect(outcome(sync)).toBe('503 write_buffer_halted');
    expect(await healthOf(second.client)).toMatchObject({ status: 'degraded', writeBuffer: { pending: 1 } });
    await second.stop();
    await wrong.drop();
    const third = await next({ ...LATER, ...STATS });
    expect(await scoresOf(third).points()).toEqual([[1, 0]]);
  });
});

describe('two sidecars on one journal', () => {
  it('do not run: the second says which folder it is, and the first goes on', async () => {
    const first = await next({ ...LATER, ...STATS });
    await scoresOf(first).declare();
    await scoresOf(first).insert(1);
    const journal = join(folder, 'data/journal');
    const second = start({ database, config: { ...PATIENT, writeBehind: { ...LATER, ...STATS, journal } } });
    await expect(second).rejects.toThrow('a sidecar already runs with this configuration; stop it first');
    expect(await scoresOf(first).points()).toEqual([[1, 0]]);
  });
});
