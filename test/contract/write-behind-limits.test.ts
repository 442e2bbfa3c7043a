import { describe, expect, it, vi } from 'vitest';
import { openEngine } from '#engine/open.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { outcome, PATIENT } from './data-world.ts';
import { healthOf, LATER, PLAIN_READS, pendingOf, Scores, sidecarsOfTest } from './write-behind-world.ts';

/** When the queue is applied by itself, and when it takes no more (contract section 7). */

const start = sidecarsOfTest();
/** Configuration of the sidecar of the test. */
let configFile: string;

async function scoresWith(writeBehind: object): Promise<Scores> {
  const namespaces = { stats: PLAIN_READS, other: PLAIN_READS };
  const sidecar = await start({ config: { ...PATIENT, writeBehind: { ...LATER, ...writeBehind, namespaces } } });
  configFile = sidecar.configFile;
  const scores = new Scores(sidecar.client, 'stats');
  await scores.declare();
  return scores;
}

describe('the queue is applied by itself', () => {
  it('when the oldest write has waited for flushIntervalMs', async () => {
    const scores = await scoresWith({ flushIntervalMs: 50 });
    await scores.insert(1);
    await vi.waitFor(async () => expect(await scores.points()).toEqual([[1, 0]]), 10_000);
  });

  it('when flushAtPending writes wait, over all namespaces', async () => {
    const scores = await scoresWith({ flushAtPending: 4 });
    const other = new Scores(scores.client, 'other');
    await other.declare();
    await scores.insert(1);
    await scores.insert(2);
    await other.insert(3);
    expect(await pendingOf(scores.client)).toBe(3);
    await scores.insert(4);
    await vi.waitFor(async () => expect(await pendingOf(scores.client)).toBe(0), 10_000);
    expect(await scores.points()).toHaveLength(3);
    expect(await other.points()).toHaveLength(1);
  });
});

describe('a dead letter that somebody wants tried again', () => {
  it('goes to the end of the queue, and away when it is applied', async () => {
    const scores = await scoresWith({ flushIntervalMs: 100 });
    await scores.insert(1, { rows: [{ id: 1, label: 'taken' }] });
    const doomed = await scores.insert(2, { rows: [{ id: 2, label: 'taken' }] });
    expect(await scores.flush()).toMatchObject({ remaining: 0 });
    await scores.call('update', { filter: { field: 'id', op: 'eq', value: 1 }, set: { label: 'free' } });
    await scores.flush();
    const { database } = loadConfig(configFile, {});
    const engine = await openEngine(database, { log: () => {}, now: Date.now });
    try {
      const bounds = { deadline: performance.now() + 20_000 };
      expect(await engine.queues.wantRetry(String(doomed.result.id), bounds)).toBe(true);
      await vi.waitFor(async () => expect(await scores.points()).toHaveLength(2), 15_000);
      expect(await engine.queues.listLetters('stats', bounds)).toEqual([]);
    } finally {
      await engine.close();
    }
    await vi.waitFor(async () => expect((await healthOf(scores.client)).writeBuffer?.deadLetters).toBe(0), 10_000);
  });
});

describe('a full queue', () => {
  it('refuses what would be one too many, which is never applied, and takes more when there is room', async () => {
    const scores = await scoresWith({ maxPending: 3 });
    for (const id of [1, 2, 3]) expect(outcome(await scores.insert(id))).toBe('200');
    const refused = await scores.insert(4, { idempotencyKey: 'four' });
    expect(outcome(refused)).toBe('503 write_buffer_full');
    expect(refused.isVerified).toBe(true);
    // An immediate write makes room first.
    expect(outcome(await scores.insert(5, { durability: 'immediate' }))).toBe('200');
    expect((await scores.points()).map(([id]) => id)).toEqual([1, 2, 3, 5]);
    // The refusal is not remembered under its key.
    expect(outcome(await scores.insert(4, { idempotencyKey: 'four' }))).toBe('200');
    expect(await scores.flush()).toMatchObject({ flushed: 1, remaining: 0 });
    expect(await scores.points()).toHaveLength(5);
  });

  it('of many at once takes exactly what there is room for', async () => {
    const scores = await scoresWith({ maxPending: 20 });
    const outcomes = (await Promise.all(Array.from({ length: 60 }, (_, id) => scores.insert(id)))).map(outcome);
    expect(outcomes.filter((each) => each === '200')).toHaveLength(20);
    expect(outcomes.filter((each) => each === '503 write_buffer_full')).toHaveLength(40);
    await scores.flush();
    expect(await scores.points()).toHaveLength(20);
  });

  it('also counts the bytes of the payloads', async () => {
    const scores = await scoresWith({ maxJournalMegabytes: 1 });
    await scores.declare({ name: 'body', type: 'text', nullable: true });
    const big = (id: number) => scores.call('insert', { rows: [{ id, body: 'x'.repeat(700_000) }] });
    expect(outcome(await big(1))).toBe('200');
    expect(outcome(await big(2))).toBe('503 write_buffer_full');
    expect(outcome(await scores.insert(3))).toBe('200');
    await scores.flush();
    expect(outcome(await big(2))).toBe('200');
    await scores.flush();
    expect(await scores.points()).toHaveLength(3);
  });
});
