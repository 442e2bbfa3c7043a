import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { PATIENT, rowsOf, useSidecar } from './data-world.ts';
import { buffered, SCORES } from './write-behind-world.ts';

/** The law of write-behind: what is queued leaves what it would leave when written directly. */

const QUEUED = 'queued';
const LIVE = 'live';
const world = useSidecar({ config: { ...PATIENT, ...buffered([QUEUED]) } });

beforeAll(async () => {
  const columns = SCORES.columns.map((column) => (column.name === 'points' ? { ...column, type: 'int32' } : column));
  for (const namespace of [QUEUED, LIVE]) {
    await world.client.must('schema.sync', { namespace, schema: { tables: [{ ...SCORES, columns }] } });
  }
});

const id = fc.integer({ min: 0, max: 5 });
const points = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(2_147_483_647, -2_147_483_648));
const label = fc.constantFrom('a', 'b', 'c', null);
const row = fc.record({ id, points, label }, { requiredKeys: ['id'] });
const filter = fc.oneof(
  id.map((value) => ({ field: 'id', op: 'eq', value })),
  id.map((value) => ({ field: 'id', op: 'gte', value })),
  fc.constant({ field: 'label', op: 'isNull' }),
);

type Call = readonly [operation: string, payload: object];
const byId = id.map((value) => ({ field: 'id', op: 'eq', value }));
/** Only an insert has many rows and can fail at one: without transactions that leaves the same beginning both ways. */
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.array(row, { minLength: 1, maxLength: 3 }).map((rows): Call => ['insert', { rows }]),
  fc.record({ filter, set: fc.record({ points }) }).map((payload): Call => ['update', payload]),
  fc.record({ filter: byId, set: fc.record({ label }) }).map((payload): Call => ['update', payload]),
  fc.record({ filter: byId, inc: fc.record({ points }) }).map((payload): Call => ['update', payload]),
  row.map((wanted): Call => ['upsert', { row: wanted, keys: ['id'] }]),
  fc.record({ filter }).map((payload): Call => ['delete', payload]),
  fc.constant<Call>(['flush', {}]),
);

async function holdsFor(calls: readonly Call[]): Promise<void> {
  const { client } = world;
  for (const namespace of [QUEUED, LIVE]) {
    await client.must('delete', { namespace, table: 'scores', all: true, durability: 'immediate' });
  }
  for (const [operation, payload] of calls) {
    const live = await client.call(operation, { namespace: LIVE, table: 'scores', ...payload });
    const queued = await client.call(operation, { namespace: QUEUED, table: 'scores', ...payload });
    if (live.ok) expect(queued.ok).toBe(true);
    else if (queued.ok) expect(['constraint_violation', 'invalid_value']).toContain(live.code);
  }
  expect(await rowsOf(client, { namespace: QUEUED, table: 'scores' })).toEqual(
    await rowsOf(client, { namespace: LIVE, table: 'scores' }),
  );
}

it('programs leave the same queued and live', async () => {
  await fc.assert(fc.asyncProperty(fc.array(call, { maxLength: 40 }), holdsFor), {
    numRuns: 25,
    interruptAfterTimeLimit: 8000,
  });
});
