import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/signed-client.ts';
import { declare, PATIENT, rowsOf, useSidecar } from './data-world.ts';

const world = useSidecar({ config: PATIENT });
let namespace = '';

beforeEach(async () => {
  namespace = await declare(
    world.client,
    {
      name: 'players',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64', autoIncrement: true },
        { name: 'license', type: 'string', unique: true },
        { name: 'money', type: 'int64', default: 0 },
        { name: 'seen', type: 'int32', nullable: true },
      ],
    },
    {
      name: 'seats',
      primaryKey: ['house', 'seat'],
      columns: [
        { name: 'house', type: 'int32' },
        { name: 'seat', type: 'string' },
        { name: 'guest', type: 'int32' },
      ],
    },
  );
});

const call = (operation: string, table: string, payload: object): Promise<Answer> =>
  world.client.call(operation, { namespace, table, ...payload });
const rows = (table: string) => rowsOf(world.client, { namespace, table });

/** All at once; the codes of those that failed. */
async function codesOf(count: number, make: (i: number) => Promise<Answer>): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, i) => make(i)));
  return answers.filter((answer) => !answer.ok).map((answer) => answer.code);
}

describe('at the same time', () => {
  it('200 upserts of one key: none fails, one row', async () => {
    const upsert = (i: number) =>
      call('upsert', 'players', { row: { license: 'a', seen: i }, keys: ['license'], idempotencyKey: `k${i}` });
    expect(await codesOf(200, upsert)).toEqual([]);
    expect(await rows('players')).toMatchObject([{ license: 'a', money: 0 }]);
  });

  it('200 upserts of one key of two columns, without idempotency keys: none fails, one row', async () => {
    const upsert = (i: number) =>
      call('upsert', 'seats', { row: { house: 1, seat: 'left', guest: i }, keys: ['seat', 'house'] });
    expect(await codesOf(200, upsert)).toEqual([]);
    expect(await rows('seats')).toMatchObject([{ house: 1, seat: 'left' }]);
  });

  it('upserts of new rows that bring their id along, by another key: none fails, one row each', async () => {
    for (let id = 1; id <= 6; id++) {
      const upsert = (i: number) =>
        call('upsert', 'players', {
          row: { id, license: `a${id}`, seen: i },
          keys: ['license'],
          ...(i % 2 === 0 ? { idempotencyKey: `k${id}.${i}` } : {}),
        });
      expect(await codesOf(20, upsert)).toEqual([]);
    }
    expect((await rows('players')).map(({ license }) => license)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
  });

  it('400 increments of one row, half of them with keys: each counts once', async () => {
    await call('insert', 'players', { rows: [{ license: 'a' }] });
    const filter = { field: 'license', op: 'eq', value: 'a' };
    const inc = (i: number) =>
      call('update', 'players', { filter, inc: { money: 1 }, ...(i % 2 === 0 ? { idempotencyKey: `k${i}` } : {}) });
    expect(await codesOf(400, inc)).toEqual([]);
    expect(await rows('players')).toMatchObject([{ money: 400 }]);
  });

  it('50 inserts of one unique value: one wins, the others are told', async () => {
    const codes = await codesOf(50, () => call('insert', 'players', { rows: [{ license: 'a' }] }));
    expect(codes).toEqual(Array(49).fill('constraint_violation'));
    expect(await rows('players')).toHaveLength(1);
  });

  it('one idempotency key sent 50 times: written once, answered alike', async () => {
    const insert = () => call('insert', 'players', { rows: [{ license: 'a' }], idempotencyKey: 'once' });
    const answers = await Promise.all(Array.from({ length: 50 }, insert));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(await rows('players')).toHaveLength(1);
  });

  it('rows that lock each other in opposite orders: every call ends well', async () => {
    const licenses = Array.from({ length: 20 }, (_, i) => `l${i}`);
    await call('insert', 'players', { rows: licenses.map((license) => ({ license })) });
    const update = (i: number) => {
      const values = i % 2 === 0 ? licenses : licenses.toReversed();
      return call('update', 'players', { filter: { field: 'license', op: 'in', value: values }, inc: { money: 1 } });
    };
    expect(await codesOf(60, update)).toEqual([]);
    expect(new Set((await rows('players')).map((row) => row.money))).toEqual(new Set([60]));
  });
});
