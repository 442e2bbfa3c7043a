import { beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { outcome, useSidecar } from './data-world.ts';
import { ITEMS, LAMP_ROW, REFUSALS } from './refusals.ts';
import { buffered, pendingOf } from './write-behind-world.ts';

/** Validation before the acknowledgement: what a live write is refused for at once, a queued one is too (contract section 7). */

const QUEUED = 'queued';
const LIVE = 'live';
const world = useSidecar({
  config: {
    keys: [keyOf('local', { allowUnfilteredWrites: true }), keyOf('modest', { allowUnfilteredWrites: false })],
    limits: { maxInsertRows: 3 },
    ...buffered([QUEUED]),
  },
});
const VALUES = {
  name: 'values',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'big', type: 'int64', nullable: true },
    { name: 'price', type: 'decimal', precision: 6, scale: 2, nullable: true },
    { name: 'ratio', type: 'float64', nullable: true },
    { name: 'flag', type: 'bool', nullable: true },
    { name: 'body', type: 'text', nullable: true },
    { name: 'doc', type: 'json', nullable: true },
    { name: 'at', type: 'datetime', nullable: true },
    { name: 'day', type: 'date', nullable: true },
    { name: 'tag', type: 'uuid', nullable: true },
    { name: 'raw', type: 'bytes', nullable: true },
  ],
};
const deepJson = (depth: number): unknown => (depth === 0 ? 1 : [deepJson(depth - 1)]);

/** Column and a value that it cannot take. */
const BAD_VALUES: readonly (readonly [column: string, value: unknown])[] = [
  ['id', 2_147_483_648],
  ['id', 1.5],
  ['id', '1'],
  ['big', 1e19],
  ['price', 123456.7],
  ['price', '0.001'],
  ['price', 'much'],
  ['ratio', '1'],
  ['flag', 1],
  ['body', 5],
  ['body', 'a\u0000b'],
  ['body', '\ud800'],
  ['doc', deepJson(101)],
  ['at', 'yesterday'],
  ['at', '2026-02-30T00:00:00Z'],
  ['day', '2026-13-01'],
  ['tag', 'no-uuid'],
  ['raw', 'not base64!'],
];

beforeAll(async () => {
  for (const namespace of [QUEUED, LIVE]) {
    await world.client.must('schema.sync', { namespace, schema: { tables: [ITEMS, VALUES] } });
    await world.client.must('insert', { namespace, table: 'items', rows: [LAMP_ROW], durability: 'immediate' });
  }
});

/** The same call in both namespaces: the answers of both, and how many writes wait afterwards. */
async function inBoth(operation: string, payload: Record<string, unknown>, kid = 'local') {
  const client = world.sidecar.clientOf(kid);
  const answer = async (namespace: string) => {
    const { status, code, message } = await client.call(operation, { namespace, ...payload });
    return { status, code, message: message.replaceAll(namespace, 'NAMESPACE') };
  };
  const answers = { live: await answer(LIVE), queued: await answer(QUEUED) };
  return { ...answers, pending: await pendingOf(world.client) };
}

const WRITES = REFUSALS.filter(([operation]) => ['insert', 'update', 'upsert', 'delete'].includes(operation));
/** Refusals that only the database can know: accepted, and a dead letter later. */
const KNOWN_BY_THE_DATABASE = (payload: Record<string, unknown>, expected: string): boolean =>
  expected.startsWith('409') || JSON.stringify(payload).includes('"inc":{"weight":2147483647}');

describe('a queued write is refused as a live one', () => {
  it.each(WRITES.filter(([, payload, expected]) => !KNOWN_BY_THE_DATABASE(payload, expected)))(
    '%s %j: %s',
    async (operation, payload, expected) => {
      const { live, queued, pending } = await inBoth(operation, { table: 'items', ...payload });
      expect(`${queued.status} ${queued.code}`).toBe(expected);
      expect(queued).toEqual(live);
      expect(pending).toBe(0);
    },
  );

  it.each(BAD_VALUES)('%s cannot be %j', async (column, value) => {
    const row = { id: 1, [column]: value };
    for (const [operation, payload] of [
      ['insert', { rows: [row] }],
      ['upsert', { row, keys: ['id'] }],
      ['update', { filter: { field: 'id', op: 'eq', value: 1 }, set: { [column]: value } }],
    ] as const) {
      const { live, queued, pending } = await inBoth(operation, { table: 'values', ...payload });
      expect(queued.status, operation).toBe(400);
      expect(queued).toEqual(live);
      expect(pending).toBe(0);
    }
  });

  it('a key that may not write without a filter may not queue such a write', async () => {
    const { live, queued, pending } = await inBoth('delete', { table: 'items', all: true }, 'modest');
    expect(queued).toEqual(live);
    expect(queued).toMatchObject({ status: 403, code: 'forbidden' });
    expect(pending).toBe(0);
  });
});

describe('what only the database knows', () => {
  it('is accepted, and becomes a dead letter that stops nobody', async () => {
    const accepted = WRITES.filter(([, payload, expected]) => KNOWN_BY_THE_DATABASE(payload, expected));
    expect(accepted.length).toBeGreaterThan(3);
    for (const [operation, payload] of accepted) {
      const answer = await world.client.call(operation, { namespace: QUEUED, table: 'items', ...payload });
      expect(outcome(answer)).toBe('200');
      expect(answer.result).toMatchObject({ queued: true });
    }
    await world.client.must('insert', { namespace: QUEUED, table: 'items', rows: [{ name: 'last' }] });
    const flushed = await world.client.must('flush', { namespace: QUEUED });
    const deadLettered = accepted.length;
    expect(flushed).toEqual({ flushed: 1, deadLettered, remaining: 0, halted: false, enabled: true });
    const { rows } = await world.client.must<{ rows: object[] }>('find', { namespace: QUEUED, table: 'items' });
    expect(rows).toMatchObject([LAMP_ROW, { name: 'last' }]);
    const healthy = { status: 'ok', writeBuffer: { deadLetters: deadLettered, pending: 0 } };
    // They are counted beside what goes on.
    await expect.poll(() => world.client.must('health')).toMatchObject(healthy);
  });
});
