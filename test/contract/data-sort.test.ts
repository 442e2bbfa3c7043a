import { beforeAll, expect, it } from 'vitest';
import { declare, outcome, rowsOf, useSidecar } from './data-world.ts';

const world = useSidecar();
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const LONG = 'x'.repeat(20_000);

let namespace = '';
beforeAll(async () => {
  const columns = [{ name: 'id', type: 'int32' }, ...NAMES.map((name) => ({ name, type: 'text' }))];
  namespace = await declare(world.client, { name: 'texts', primaryKey: ['id'], columns });
  const same = Object.fromEntries(NAMES.map((name) => [name, LONG]));
  const rows = [
    { ...same, id: 1, d: `${LONG}2` },
    { ...same, id: 2, d: `${LONG}1` },
    { ...same, id: 3, d: `${LONG}3` },
  ];
  await world.client.must('insert', { namespace, table: 'texts', rows });
});

const sortBy = (count: number) => NAMES.slice(0, count).map((field) => ({ field }));

it('four columns of text are compared to their ends', async () => {
  const payload = { namespace, table: 'texts', fields: ['id'], sort: sortBy(4) };
  expect((await rowsOf(world.client, payload)).map(({ id }) => id)).toEqual([2, 1, 3]);
});

it('a fifth is refused, naming its place', async () => {
  const answer = await world.client.call('find', { namespace, table: 'texts', sort: sortBy(5) });
  expect(outcome(answer)).toBe('400 invalid_sort');
  expect(answer.text).toContain('sort[4].field: more than 4 columns of type text and bytes');
});
