import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { PATIENT } from './data-world.ts';
import { buffered, healthOf, Scores } from './write-behind-world.ts';

/** A key counts once over a queue and the live writes of another sidecar. */
let database: TestDatabase;
let queueing: TestSidecar;
let live: TestSidecar;

beforeAll(async () => {
  database = await newDatabase();
  queueing = await startSidecar({ database, config: { ...PATIENT, ...buffered(['stats']) } });
  live = await startSidecar({ database, config: PATIENT });
  await scores(queueing).declare();
});

afterAll(async () => {
  await live.stop();
  await queueing.stop();
  await database.drop();
});

const scores = ({ client }: TestSidecar) => new Scores(client, 'stats');
const flush = () => queueing.client.must<object>('flush', { namespace: 'stats' });
const points = async (id: number) => (await scores(live).points()).find(([found]) => found === id)?.[1];

describe('a key', () => {
  it('of a queued write that a live write of another sidecar has done is not done again', async () => {
    await scores(live).insert(1);
    const ack = await scores(queueing).add(1, 10, { idempotencyKey: 'first' });
    expect(ack.result).toMatchObject({ queued: true });
    expect((await scores(live).add(1, 10, { idempotencyKey: 'first' })).result).toMatchObject({ affected: 1 });
    expect(await flush()).toMatchObject({ remaining: 0, deadLettered: 0 });
    expect(await points(1)).toBe(10);
  });

  it('of an applied write is answered to a live write with the acknowledgement', async () => {
    await scores(live).insert(2);
    const ack = await scores(queueing).add(2, 10, { idempotencyKey: 'second' });
    await flush();
    expect((await scores(live).add(2, 10, { idempotencyKey: 'second' })).text).toBe(ack.text);
    expect(await points(2)).toBe(10);
  });

  it('of a queued write that another payload has used is a dead letter, and its neighbours are applied', async () => {
    await scores(live).insert(3);
    await scores(queueing).add(3, 1, { idempotencyKey: 'before' });
    await scores(queueing).add(3, 10, { idempotencyKey: 'third' });
    await scores(queueing).add(3, 100, { idempotencyKey: 'behind' });
    await scores(live).add(3, 1000, { idempotencyKey: 'third' });
    expect(await flush()).toMatchObject({ remaining: 0, deadLettered: 1 });
    expect(await points(3)).toBe(1101);
    expect((await healthOf(queueing.client)).writeBuffer).toMatchObject({ deadLetters: 1 });
  });

  it('is known after a restart with entries in the journal, and of a batch whose operations are for themselves', async () => {
    await scores(live).insert(4);
    const operations = [4, 4].map((id) => ({
      ...{ op: 'update', table: 'scores', filter: { field: 'id', op: 'eq', value: id }, inc: { points: 5 } },
    }));
    const batch = { namespace: 'stats', atomic: false, operations, idempotencyKey: 'batch' };
    const ack = await queueing.client.must('batch', batch);
    const keyed = await scores(queueing).add(4, 100, { idempotencyKey: 'kept' });
    const { folder } = queueing;
    await queueing.stop();
    queueing = await startSidecar({ folder, database, config: { ...PATIENT, ...buffered(['stats']) } });
    await flush();
    expect(await points(4)).toBe(110);
    expect(await live.client.must('batch', batch)).toEqual(ack);
    expect((await scores(live).add(4, 100, { idempotencyKey: 'kept' })).text).toBe(keyed.text);
    expect(await points(4)).toBe(110);
  });
});
