import { beforeAll, describe, expect, it } from 'vitest';
import { declare, outcome, PATIENT, rowsOf, useSidecar } from './data-world.ts';

/** `aggregate` (contract section 11). */

const BUFFERED = 'later';
const LOOSE = 'loose';
const MAX_ROWS = 50;
const world = useSidecar({
  config: {
    ...PATIENT,
    limits: { maxRows: MAX_ROWS, maxAnswerBytes: 2000 },
    writeBehind: {
      flushIntervalMs: 600_000,
      flushAtPending: 100_000,
      namespaces: { [BUFFERED]: {}, [LOOSE]: { consistentReads: false } },
    },
  },
});
let namespace = '';

const SALES = {
  name: 'sales',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'shop', type: 'string', nullable: true },
    { name: 'open', type: 'bool', default: true },
    { name: 'n', type: 'int32', nullable: true },
    { name: 'big', type: 'int64', nullable: true },
    { name: 'price', type: 'decimal', precision: 18, scale: 4, nullable: true },
    { name: 'wide', type: 'decimal', precision: 34, scale: 10, nullable: true },
    { name: 'weight', type: 'float64', nullable: true },
    { name: 'at', type: 'datetime', nullable: true },
    { name: 'day', type: 'date', nullable: true },
    { name: 'owner', type: 'uuid', nullable: true },
    { name: 'note', type: 'text', nullable: true },
    { name: 'data', type: 'json', nullable: true },
    { name: 'raw', type: 'bytes', nullable: true },
  ],
};
const MOST = 2n ** 63n - 1n;
const WIDEST = `${'9'.repeat(24)}.${'9'.repeat(10)}`;
const LOW = '00000000-0000-4000-8000-000000000001';
const HIGH = 'f0000000-0000-4000-8000-000000000001';

const ROWS = [
  `{"shop":"b","n":1,"big":${MOST},"price":"0.0001","wide":"${WIDEST}","weight":0.5,"at":"2024-01-02T00:00:00.001Z","day":"2024-01-02","owner":"${HIGH}","note":"x"}`,
  `{"shop":"b","n":2,"big":${MOST},"price":99999999999999.9999,"wide":"${WIDEST}","weight":0.25,"at":"2023-01-02T00:00:00Z","day":"0001-01-01","owner":"${LOW}","open":false,"data":{}}`,
  `{"shop":"b","n":2,"big":${-MOST},"price":99999999999999.9999,"wide":"-0.0000000001","weight":0,"note":"y","raw":"AA=="}`,
  `{"shop":"B","n":-5,"big":-1,"price":-1,"wide":-1,"weight":-1}`,
  '{"shop":"é","n":0}',
  '{"shop":null,"n":7,"open":false}',
  '{"shop":"b "}',
];

beforeAll(async () => {
  namespace = await declare(world.client, SALES, { ...SALES, name: 'none' }, { ...SALES, name: 'many' });
  const inserted = `{"namespace":"${namespace}","table":"sales","rows":[${ROWS}]}`;
  expect(outcome(await world.client.call('insert', inserted))).toBe('200');
});

const call = (payload: object, table = 'sales') => world.client.call('aggregate', { namespace, table, ...payload });
/** Digit for digit. */
async function text(payload: object, table?: string): Promise<string> {
  const answer = await call(payload, table);
  return answer.ok ? answer.text : outcome(answer);
}
const rows = async (payload: object, table?: string) => (await call(payload, table)).result.rows;
const value = (fn: string, field?: string) => ({ as: 'v', fn, ...(field === undefined ? {} : { field }) });

describe('the values of all rows', () => {
  it('count rows, values that are not null, and distinct ones', async () => {
    const values = [
      { as: 'all', fn: 'count' },
      { as: 'notes', fn: 'count', field: 'note' },
      { as: 'shops', fn: 'count', field: 'shop' },
      { as: 'names', fn: 'countDistinct', field: 'shop' },
      { as: 'numbers', fn: 'countDistinct', field: 'n' },
      { as: 'opens', fn: 'countDistinct', field: 'open' },
      { as: 'owners', fn: 'countDistinct', field: 'owner' },
      { as: 'objects', fn: 'count', field: 'data' },
    ];
    expect(await text({ values })).toBe(
      '{"rows":[{"all":7,"notes":2,"shops":6,"names":4,"numbers":5,"opens":2,"owners":2,"objects":1}],"hasMore":false}',
    );
  });

  it('are exact sums of any size', async () => {
    const values = ['n', 'big', 'price', 'wide', 'weight'].map((field) => ({ as: `of_${field}`, fn: 'sum', field }));
    const wide = `${2n * (10n ** 34n - 1n) - 10n ** 10n - 1n}`;
    const sums = [
      `"of_n":7,"of_big":${MOST - 1n},"of_price":199999999999998.9999`,
      `"of_wide":${wide.slice(0, -10)}.${wide.slice(-10)},"of_weight":-0.25`,
    ];
    expect(await text({ values })).toBe(`{"rows":[{${sums}}],"hasMore":false}`);
    const two = await text({
      filter: { field: 'n', op: 'gt', value: 0 },
      groupBy: ['n'],
      values: [value('sum', 'big')],
    });
    expect(two).toBe(`{"rows":[{"n":1,"v":${MOST}},{"n":2,"v":0},{"n":7,"v":null}],"hasMore":false}`);
    const past = { filter: { field: 'big', op: 'gt', value: 0 } };
    expect(await text({ ...past, values: [value('sum', 'big')] })).toContain(`"v":${2n * MOST}}`);
  });

  it('are the least and the greatest of every type that has an order, as a find gives them', async () => {
    const fields = ['id', 'shop', 'open', 'n', 'big', 'price', 'wide', 'weight', 'at', 'day', 'owner'];
    const extremes = async (fn: string) => {
      const values = fields.map((field) => ({ as: field, fn, field }));
      const parts = await Promise.all([values.slice(0, 6), values.slice(6)].map((part) => text({ values: part })));
      return parts.map((part) => part.slice('{"rows":[{'.length, part.indexOf('}'))).join();
    };
    expect(await extremes('min')).toBe(
      `"id":1,"shop":"B","open":false,"n":-5,"big":${-MOST},"price":-1,"wide":-1,"weight":-1,` +
        `"at":"2023-01-02T00:00:00.000Z","day":"0001-01-01","owner":"${LOW}"`,
    );
    expect(await extremes('max')).toBe(
      `"id":7,"shop":"é","open":true,"n":7,"big":${MOST},"price":99999999999999.9999,"wide":${WIDEST},"weight":0.5,` +
        `"at":"2024-01-02T00:00:00.001Z","day":"2024-01-02","owner":"${HIGH}"`,
    );
  });

  it('of no rows are 0 and null; of no rows there are no groups', async () => {
    const values = ['count', 'countDistinct', 'sum', 'min', 'max'].map((fn) => ({
      as: `v_${fn.toLowerCase()}`,
      fn,
      field: 'n',
    }));
    const empty = { v_count: 0, v_countdistinct: 0, v_sum: null, v_min: null, v_max: null };
    expect(await rows({ values }, 'none')).toEqual([empty]);
    expect(await rows({ values, filter: { field: 'n', op: 'eq', value: 99 } })).toEqual([empty]);
    expect(await rows({ values, groupBy: ['shop'] }, 'none')).toEqual([]);
    expect(await text({ values: [value('count')], offset: 1 }, 'none')).toBe('{"rows":[],"hasMore":false}');
    expect(await text({ values: [value('count')], limit: 0 }, 'none')).toBe('{"rows":[],"hasMore":true}');
    expect(await rows({ values: [value('sum', 'wide')], filter: { field: 'wide', op: 'isNull' } })).toEqual([
      { v: null },
    ]);
  });
});

describe('groups', () => {
  it('come in their order, NULL first and text by bytes; a group may stand alone', async () => {
    expect(await rows({ groupBy: ['shop'], values: [value('count')] })).toEqual([
      { shop: null, v: 1 },
      { shop: 'B', v: 1 },
      { shop: 'b', v: 3 },
      { shop: 'b ', v: 1 },
      { shop: 'é', v: 1 },
    ]);
    expect(await rows({ groupBy: ['open', 'n'], filter: { field: 'shop', op: 'eq', value: 'b' } })).toEqual([
      { open: false, n: 2 },
      { open: true, n: 1 },
      { open: true, n: 2 },
    ]);
  });

  it('are sorted by their columns and values, NULL first ascending and last descending; groups break ties', async () => {
    const query = { groupBy: ['shop'], values: [value('sum', 'price'), { as: 'rows', fn: 'count' }] };
    const shops = async (sort: object[]) =>
      ((await rows({ ...query, sort })) as { shop: string | null }[]).map(({ shop }) => shop);
    expect(await shops([{ field: 'v' }])).toEqual([null, 'b ', 'é', 'B', 'b']);
    expect(await shops([{ field: 'v', dir: 'desc' }])).toEqual(['b', 'B', null, 'b ', 'é']);
    expect(
      await shops([
        { field: 'rows', dir: 'desc' },
        { field: 'shop', dir: 'desc' },
      ]),
    ).toEqual(['b', 'é', 'b ', 'B', null]);
  });

  it.each(['big', 'wide'])('are sorted by exact sums of %s beyond what a number of the engine holds', async (field) => {
    const base = field === 'big' ? [MOST, MOST] : [`${WIDEST}`, `${WIDEST}`];
    const table = `{"namespace":"${namespace}","table":"many","rows":[`;
    const group = (shop: string, more: string) =>
      [...base.map(String), more].map((each) =>
        `{"shop":"${shop}","${field}":"${each}"}`.replace(/"(-?\d+)"\}$/, field === 'big' ? '$1}' : '"$1"}'),
      );
    const negative = (shop: string) =>
      base.map((each) => `{"shop":"${shop}","${field}":${field === 'big' ? -BigInt(each) : `"-${each}"`}}`);
    const inserted = [...group('x', '1'), ...group('y', '2'), ...group('z', '-1'), ...negative('w')];
    expect(outcome(await world.client.call('insert', `${table}${inserted}]}`))).toBe('200');
    const query = { groupBy: ['shop'], values: [value('sum', field)], sort: [{ field: 'v' }] };
    const sorted = (await rows({ ...query, filter: { field, op: 'isNull', value: false } }, 'many')) as {
      shop: string;
    }[];
    expect(sorted.map(({ shop }) => shop)).toEqual(['w', 'z', 'x', 'y']);
  });

  it.each(['open', 'n', 'big', 'price', 'wide', 'weight', 'at', 'day', 'owner', 'id'])(
    'by %s are those of the rows',
    async (field) => {
      const { payload } = { payload: { namespace, table: 'sales', fields: [field], sort: [{ field }] } };
      const found = (await rowsOf(world.client, payload)).map((row) => JSON.stringify(row));
      const groups = (await rows({ groupBy: [field] })) as object[];
      expect(groups.map((row) => JSON.stringify(row))).toEqual([...new Set(found)]);
    },
  );

  it('end where a page does: limit, maxRows, bytes, offset', async () => {
    const table = 'pages';
    const own = await declare(world.client, { ...SALES, name: table });
    const inserted = Array.from({ length: 120 }, (_, n) => ({ n, shop: `shop ${String(n).padStart(100, '0')}` }));
    await world.client.must('insert', { namespace: own, table, rows: inserted });
    const page = async (payload: object) =>
      await world.client.must<{ rows: Record<string, unknown>[]; hasMore: boolean }>('aggregate', {
        namespace: own,
        table,
        ...payload,
      });
    const numbers = async (payload: object) => {
      const { rows: found, hasMore } = await page({ groupBy: ['n'], ...payload });
      return [found.length, found[0]?.n, hasMore];
    };
    expect(await numbers({ limit: 3 })).toEqual([3, 0, true]);
    expect(await numbers({ limit: 3, offset: 117 })).toEqual([3, 117, false]);
    expect(await numbers({ limit: 0 })).toEqual([0, undefined, true]);
    expect(await numbers({})).toEqual([MAX_ROWS, 0, true]);
    expect(await numbers({ limit: 1e9, offset: 100 })).toEqual([20, 100, false]);
    const asFound = { namespace: own, table, fields: ['shop'], sort: [{ field: 'shop' }] };
    const cut = await page({ groupBy: ['shop'] });
    expect(cut).toEqual(await world.client.must('find', asFound));
    expect([cut.rows.length, cut.hasMore]).toEqual([17, true]);
  });
});

describe('what cannot be', () => {
  const count = value('count');
  const CASES: readonly (readonly [what: string, payload: object, outcome: string])[] = [
    ['nothing asked for', {}, '400 invalid_request'],
    ['nothing in the lists', { groupBy: [], values: [] }, '400 invalid_request'],
    ['a group that is no column', { groupBy: ['colour'] }, '400 unknown_column'],
    ['a group that stands twice', { groupBy: ['n', 'n'] }, '400 invalid_request'],
    ['five groups', { groupBy: ['n', 'big', 'price', 'wide', 'at'] }, '400 invalid_request'],
    ['a group of text', { groupBy: ['note'] }, '400 invalid_request'],
    ['a group of json', { groupBy: ['data'] }, '400 invalid_request'],
    ['a group of bytes', { groupBy: ['raw'] }, '400 invalid_request'],
    [
      'nine values',
      { values: Array.from({ length: 9 }, (_, i) => ({ as: `v${i}`, fn: 'count' })) },
      '400 invalid_request',
    ],
    ['a value without a name', { values: [{ fn: 'count' }] }, '400 invalid_request'],
    ['a name that breaks the rule', { values: [{ as: 'V', fn: 'count' }] }, '400 invalid_identifier'],
    ['a name that is too long', { values: [{ as: 'v'.repeat(49), fn: 'count' }] }, '400 invalid_identifier'],
    ['a name that stands twice', { values: [count, count] }, '400 invalid_request'],
    ['the name of a group', { groupBy: ['n'], values: [{ as: 'n', fn: 'count' }] }, '400 invalid_request'],
    ['a function that is none', { values: [value('avg', 'n')] }, '400 invalid_request'],
    ['a sum of nothing', { values: [value('sum')] }, '400 invalid_request'],
    ['a sum of text', { values: [value('sum', 'shop')] }, '400 invalid_request'],
    ['a sum of bools', { values: [value('sum', 'open')] }, '400 invalid_request'],
    ['the least of a text', { values: [value('min', 'note')] }, '400 invalid_request'],
    ['the greatest of a json', { values: [value('max', 'data')] }, '400 invalid_request'],
    ['distinct bytes', { values: [value('countDistinct', 'raw')] }, '400 invalid_request'],
    ['a value of no column', { values: [value('count', 'colour')] }, '400 unknown_column'],
    ['a value of a wrong form', { values: ['count'] }, '400 invalid_request'],
    ['a sort by a column that is not grouped', { values: [count], sort: [{ field: 'n' }] }, '400 invalid_sort'],
    ['a sort by nothing', { values: [count], sort: [{ field: 'colour' }] }, '400 unknown_column'],
    ['a sort twice', { values: [count], sort: [{ field: 'v' }, { field: 'v' }] }, '400 invalid_sort'],
    ['a sort of a wrong form', { values: [count], sort: 'v' }, '400 invalid_sort'],
    ['a sort upwards', { values: [count], sort: [{ field: 'v', dir: 'up' }] }, '400 invalid_sort'],
    ['a filter of nothing', { values: [count], filter: {} }, '400 invalid_filter'],
    ['a limit below 0', { values: [count], limit: -1 }, '400 invalid_request'],
    ['a table that is none', { values: [count], table: 'nowhere' }, '404 unknown_table'],
    ['a namespace that is none', { values: [count], namespace: 'nowhere' }, '404 namespace_unknown'],
  ];
  it.each(CASES)('%s', async (_, payload, expected) => {
    expect(outcome(await call(payload))).toBe(expected);
  });

  it('a sum of float64 that no double holds', async () => {
    const own = await declare(world.client, SALES);
    const table = { namespace: own, table: 'sales' };
    const sum = () => world.client.call('aggregate', { ...table, values: [value('sum', 'weight')] });
    await world.client.must('insert', { ...table, rows: [{ weight: 1.7e308 }] });
    expect((await sum()).result.rows).toEqual([{ v: 1.7e308 }]);
    await world.client.must('insert', { ...table, rows: [{ weight: 1.7e308 }, { weight: 1 }] });
    const answer = await sum();
    expect(outcome(answer)).toBe('400 invalid_value');
    expect(answer.message).toBe('values: a sum of float64 is larger than a double holds');
  });

  it('is the same asked again under another name', async () => {
    for (const as of ['a', 'b', 'shop', 'a'])
      expect(await rows({ values: [{ as, fn: 'count' }] })).toEqual([{ [as]: 7 }]);
  });

  it('null counts as left out', async () => {
    expect(await rows({ groupBy: null, sort: null, values: [{ as: 'v', fn: 'count', field: null }] })).toEqual([
      { v: 7 },
    ]);
  });
});

describe('what was queued before', () => {
  it('is counted where reads are consistent, and only there', async () => {
    for (const [space, total] of [
      [BUFFERED, 5],
      [LOOSE, null],
    ] as const) {
      await world.client.must('schema.sync', { namespace: space, schema: { tables: [SALES] } });
      await world.client.must('insert', { namespace: space, table: 'sales', rows: [{ n: 2 }, { n: 3 }] });
      const counted = await world.client.must('aggregate', {
        namespace: space,
        table: 'sales',
        values: [value('sum', 'n')],
      });
      expect(counted).toEqual({ rows: [{ v: total }], hasMore: false });
    }
  });
});
