import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { OPERATION_PATHS } from '../support/signed-client.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { outcome, rowsOf } from './data-world.ts';

/** Requests of a client that names no sidecar in its nonces, sent to every sidecar of the database. */
let database: TestDatabase;
let boxes: readonly TestSidecar[] = [];
/** Both clocks of the second box stand still, so that the moment of its start is now. */
const clock = { now: Date.now() };
const queued = { writeBehind: { namespaces: { queued: {} } } };
const TABLES = [
  {
    name: 'log',
    columns: [
      { name: 'id', type: 'int32', autoIncrement: true },
      { name: 'x', type: 'int32' },
    ],
    primaryKey: ['id'],
  },
  {
    name: 'purse',
    columns: [
      { name: 'owner', type: 'string', length: 20 },
      { name: 'coins', type: 'int32' },
    ],
    primaryKey: ['owner'],
  },
];

beforeAll(async () => {
  database = await newDatabase();
  boxes = [
    await startSidecar({ database, config: queued }),
    await startSidecar({ database, now: () => clock.now, monotonicNow: () => clock.now }),
    await startSidecar({ database }),
  ];
  for (const { client } of boxes) {
    const others = async () => (await client.must<{ sidecars: object[] }>('health')).sidecars;
    await vi.waitFor(async () => expect(await others()).toHaveLength(2), 20_000);
  }
  for (const namespace of ['game', 'queued']) {
    await box(0).client.must('schema.sync', { namespace, schema: { tables: TABLES } });
  }
});

afterAll(async () => {
  for (const one of boxes.toReversed()) await one.stop();
  await database.drop();
});

const box = (index: number) => boxes[index] as TestSidecar;
const rows = (table: string) => rowsOf(box(0).client, { namespace: 'game', table });
const envelopeOf = (operation: string, payload: object, nonce: string = randomUUID()) =>
  box(2).client.envelope(`${OPERATION_PATHS[operation]}`, payload, { nonce });

/** The same signed request at each box in turn, from a client whose answers were lost. */
async function everywhere(operation: string, payload: object) {
  const envelope = envelopeOf(operation, payload);
  const answers = [];
  for (const { client } of boxes) answers.push(await client.send(`${OPERATION_PATHS[operation]}`, envelope));
  return answers;
}

it('a write that is sent again to other sidecars is done once, and answered as the first time', async () => {
  const inserts = await everywhere('insert', { namespace: 'game', table: 'log', rows: [{ x: 1 }] });
  expect(inserts.map(outcome)).toEqual(['200', '200', '200']);
  expect(inserts.every(({ isVerified }) => isVerified)).toBe(true);
  expect(new Set(inserts.map(({ text }) => text)).size).toBe(1);
  expect(await rows('log')).toHaveLength(1);

  const row = { owner: 'ada', coins: 1 };
  await everywhere('upsert', { namespace: 'game', table: 'purse', row, keys: ['owner'] });
  const filter = { field: 'owner', op: 'eq', value: 'ada' };
  const added = await everywhere('update', { namespace: 'game', table: 'purse', filter, inc: { coins: 5 } });
  expect(added.map(({ result }) => result)).toEqual([{ affected: 1 }, { affected: 1 }, { affected: 1 }]);
  const operations = [{ op: 'update', table: 'purse', filter, inc: { coins: 10 } }];
  await everywhere('batch', { namespace: 'game', operations, atomic: false });
  expect(await rows('purse')).toEqual([{ owner: 'ada', coins: 16 }]);
  const deleted = await everywhere('delete', { namespace: 'game', table: 'purse', filter });
  expect(deleted.map(({ result }) => result)).toEqual([{ affected: 1 }, { affected: 1 }, { affected: 1 }]);
});

it('a write that runs at several sidecars at the same moment is done once', async () => {
  const before = (await rows('log')).length;
  for (let round = 1; round <= 5; round += 1) {
    const envelope = envelopeOf('insert', { namespace: 'game', table: 'log', rows: [{ x: 2 }] });
    const answers = await Promise.all(boxes.map(({ client }) => client.send('/v1/data/insert', envelope)));
    expect(answers.map(outcome)).toEqual(['200', '200', '200']);
    expect(await rows('log')).toHaveLength(before + round);
  }
});

it('a queued write is done once, whether another sidecar runs it later or sooner', async () => {
  const insert = { namespace: 'queued', table: 'purse', rows: [{ owner: 'bo', coins: 3 }] };
  const flush = () => box(0).client.must('flush', { namespace: 'queued' });
  const later = envelopeOf('insert', insert);
  expect(outcome(await box(0).client.send('/v1/data/insert', later))).toBe('200');
  await flush();
  expect(outcome(await box(1).client.send('/v1/data/insert', later))).toBe('200');
  const sooner = envelopeOf('update', {
    namespace: 'queued',
    table: 'purse',
    filter: { field: 'owner', op: 'eq', value: 'bo' },
    inc: { coins: 4 },
  });
  expect(outcome(await box(1).client.send('/v1/data/update', sooner))).toBe('200');
  expect(outcome(await box(0).client.send('/v1/data/update', sooner))).toBe('200');
  await flush();
  expect(await rowsOf(box(2).client, { namespace: 'queued', table: 'purse' })).toEqual([{ owner: 'bo', coins: 7 }]);
});

it('another request under a used nonce is refused, and so is a schema that is declared again', async () => {
  const nonce = randomUUID();
  const insert = (x: number) => envelopeOf('insert', { namespace: 'game', table: 'log', rows: [{ x }] }, nonce);
  expect(outcome(await box(0).client.send('/v1/data/insert', insert(4)))).toBe('200');
  const before = await rows('log');
  expect(outcome(await box(1).client.send('/v1/data/insert', insert(5)))).toBe('401 unauthorized');
  expect(await rows('log')).toEqual(before);

  const sync = envelopeOf('schema.sync', { namespace: 'other', schema: { tables: TABLES.slice(0, 1) } });
  expect(outcome(await box(0).client.send('/v1/schema/sync', sync))).toBe('200');
  await box(0).client.must('schema.sync', { namespace: 'other', schema: { tables: TABLES } });
  for (const at of [1, 2]) {
    expect(outcome(await box(at).client.send('/v1/schema/sync', sync))).toBe('401 unauthorized');
  }
  const { schema } = await box(1).client.must<{ schema: { tables: object[] } }>('schema.describe', {
    namespace: 'other',
  });
  expect(schema.tables).toHaveLength(2);
});

it('a sidecar refuses requests from before the others could know it', async () => {
  const old = box(1).client.envelope(
    '/v1/data/insert',
    { namespace: 'game', table: 'log', rows: [{ x: 6 }] },
    {
      ts: Math.floor(clock.now / 1000) - 1,
    },
  );
  expect(outcome(await box(1).client.send('/v1/data/insert', old))).toBe('401 unauthorized');
  expect(outcome(await box(1).client.call('insert', { namespace: 'game', table: 'log', rows: [{ x: 6 }] }))).toBe(
    '200',
  );
});
