import { beforeAll, describe, expect, it } from 'vitest';
import { declare, rowsOf, useSidecar } from './data-world.ts';

const MAX_ANSWER_BYTES = 4096;
const world = useSidecar({ config: { limits: { maxRows: 10, maxAnswerBytes: MAX_ANSWER_BYTES } } });
let namespace = '';

beforeAll(async () => {
  namespace = await declare(
    world.client,
    {
      name: 'pairs',
      primaryKey: ['b', 'a'],
      columns: [
        { name: 'a', type: 'int32' },
        { name: 'b', type: 'string' },
        { name: 'c', type: 'int32' },
      ],
    },
    { name: 'diary', columns: [{ name: 'n', type: 'int32' }] },
    {
      name: 'large',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int32' },
        { name: 'body', type: 'text' },
      ],
    },
  );
  const pairs = Array.from({ length: 25 }, (_, i) => ({ a: (i * 7) % 25, b: i % 2 === 0 ? 'x' : 'Y', c: i % 3 }));
  await world.client.must('insert', { namespace, table: 'pairs', rows: pairs });
  await world.client.must('insert', { namespace, table: 'diary', rows: [5, 3, 9, 1].map((n) => ({ n })) });
});

async function page(payload: object): Promise<{ rows: Record<string, unknown>[]; hasMore: boolean }> {
  return world.client.must('find', { namespace, table: 'pairs', ...payload });
}

describe('find', () => {
  it('caps limit at maxRows, says whether there are more, and takes 0', async () => {
    const all = { field: 'a', op: 'gte', value: 0 };
    const few = { field: 'a', op: 'lt', value: 3 };
    const shapeOf = async (payload: object) => {
      const { rows, hasMore } = await page(payload);
      return [rows.length, hasMore];
    };
    expect(await shapeOf({})).toEqual([10, true]);
    expect(await shapeOf({ limit: 999 })).toEqual([10, true]);
    expect(await shapeOf({ limit: 3, filter: few })).toEqual([3, false]);
    expect(await shapeOf({ limit: 2, filter: few })).toEqual([2, true]);
    expect(await shapeOf({ limit: 0, filter: all })).toEqual([0, true]);
    expect(await shapeOf({ limit: 0, filter: { field: 'a', op: 'eq', value: 99 } })).toEqual([0, false]);
    expect(await shapeOf({ offset: 20 })).toEqual([5, false]);
    expect(await shapeOf({ offset: 25 })).toEqual([0, false]);
    expect(await shapeOf({ offset: 1e300 })).toEqual([0, false]);
  });

  it('pages through every row once, in the order of the primary key', async () => {
    const seen: Record<string, unknown>[] = [];
    for (let offset = 0, hasMore = true; hasMore; offset += 4) {
      const next = await page({ limit: 4, offset });
      seen.push(...next.rows);
      hasMore = next.hasMore;
    }
    const keys = seen.map(({ a, b }) => `${b}${String(a).padStart(2, '0')}`);
    expect(keys).toEqual([...new Set(keys)].sort());
    expect(keys).toHaveLength(25);
  });

  it('breaks ties by the primary key, ascending, whatever the direction', async () => {
    const { rows } = await page({ sort: [{ field: 'c', dir: 'desc' }], fields: ['a', 'b'], limit: 8 });
    const twos = rows.map(({ a, b }) => `${b}${String(a).padStart(2, '0')}`);
    expect(twos).toEqual([...twos].sort());
    expect(twos).toHaveLength(8);
  });

  it('answers the asked fields in the asked order, and never a hidden id', async () => {
    const found = await world.client.call('find', { namespace, table: 'pairs', fields: ['c', 'a'], limit: 1 });
    expect(found.text).toMatch(/^\{"rows":\[\{"c":\d,"a":\d+\}\],"hasMore":true\}$/);
    expect(await rowsOf(world.client, { namespace, table: 'diary' })).toEqual([{ n: 5 }, { n: 3 }, { n: 9 }, { n: 1 }]);
  });

  it('ends a page at maxAnswerBytes of rows, and always lets one row through', async () => {
    const sizes = [1100, 1100, 1100, 1100, 9000, 10];
    const rows = sizes.map((size, id) => ({ id, body: 'é'.repeat(size / 2) }));
    await world.client.must('insert', { namespace, table: 'large', rows });
    const seen: unknown[] = [];
    const pages: number[] = [];
    for (let hasMore = true; hasMore; ) {
      const answer = await world.client.must<{ rows: { id: number }[]; hasMore: boolean }>('find', {
        namespace,
        table: 'large',
        offset: seen.length,
      });
      expect(answer.rows.length === 1 || Buffer.byteLength(JSON.stringify(answer.rows)) <= MAX_ANSWER_BYTES).toBe(true);
      seen.push(...answer.rows.map((row) => row.id));
      pages.push(answer.rows.length);
      hasMore = answer.hasMore;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
    expect(pages).toEqual([3, 1, 1, 1]);
  });
});
