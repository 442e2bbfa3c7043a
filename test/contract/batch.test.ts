import { beforeEach, describe, expect, it } from 'vitest';
import { JsonNumber } from '#protocol/json.ts';
import { keyOf } from '../support/sidecar.ts';
import type { Answer } from '../support/signed-client.ts';
import { declare, outcome, PATIENT, rowsOf, useSidecar } from './data-world.ts';

const world = useSidecar({
  config: {
    ...PATIENT,
    limits: { maxInsertRows: 60 },
    keys: [
      keyOf('local', { allowUnfilteredWrites: true }),
      keyOf('careful', { allowUnfilteredWrites: false }),
      keyOf('narrow', { operations: ['batch', 'insert', 'update'] }),
      keyOf('single', { operations: ['insert', 'update', 'upsert', 'delete'] }),
    ],
  },
});

const ACCOUNTS = {
  name: 'accounts',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'owner', type: 'string', length: 40, unique: true },
    { name: 'money', type: 'int64', default: 0 },
  ],
};
const LOG = {
  name: 'log',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32', autoIncrement: true },
    { name: 'account', type: 'int64', nullable: true },
    { name: 'text', type: 'string', length: 10, default: '' },
    { name: 'data', type: 'json', nullable: true },
  ],
};
const LINES = {
  name: 'lines',
  columns: [
    { name: 'n', type: 'int32' },
    { name: 'text', type: 'text', nullable: true },
  ],
};
const PLAYERS = {
  name: 'players',
  primaryKey: ['citizen'],
  columns: [
    { name: 'citizen', type: 'string', length: 12 },
    { name: 'cash', type: 'decimal', precision: 18, scale: 2, default: 0 },
    { name: 'position', type: 'json', nullable: true },
    { name: 'health', type: 'float64', nullable: true },
    { name: 'seen', type: 'datetime', nullable: true },
    { name: 'face', type: 'bytes', nullable: true },
    { name: 'dead', type: 'bool', default: false },
    { name: 'account', type: 'int64', nullable: true },
  ],
};

/** Written digit for digit. */
const JSON_INT64_MAX = new JsonNumber('9223372036854775807', false);

let namespace = '';
beforeEach(async () => {
  namespace = await declare(world.client, ACCOUNTS, LOG, LINES, PLAYERS);
});

const batch = (operations: object[], more: object = {}): Promise<Answer> =>
  world.client.call('batch', { namespace, operations, ...more });
const apart = (operations: object[], more: object = {}) => batch(operations, { atomic: false, ...more });
const rows = (table: string) => rowsOf(world.client, { namespace, table });
const account = (owner: string, money = 0) => ({ op: 'insert', table: 'accounts', rows: [{ owner, money }] });
const eq = (field: string, value: unknown) => ({ field, op: 'eq', value });
const take = (owner: string, amount: number, expect?: object) => ({
  op: 'update',
  table: 'accounts',
  filter: { and: [eq('owner', owner), { field: 'money', op: 'gte', value: amount }] },
  inc: { money: -amount },
  ...(expect && { expect }),
});
const give = (owner: string, amount: number, expect?: object) => ({
  op: 'update',
  table: 'accounts',
  filter: eq('owner', owner),
  inc: { money: amount },
  ...(expect && { expect }),
});
const errorOf = ({ text }: Answer) => JSON.parse(text).error as { code: string; message: string; index?: number };
/** Status, code and index. */
const refusal = (answer: Answer) => `${outcome(answer)} ${errorOf(answer).index ?? '-'}`;

/** The cases of an atomic batch, which every engine with transactions has; elsewhere each is refused as a whole. */
function atomic(name: string, run: () => Promise<void>): void {
  it(`${name}; without transactions it is refused`, async () => {
    if (world.sidecar.capabilities.transactions) return run();
    const answer = await batch([account('anna'), { op: 'delete', table: 'log', all: true }]);
    expect(outcome(answer)).toBe('409 unsupported_operation');
    expect(errorOf(answer).message).toContain('atomic: false');
    expect(await rows('accounts')).toEqual([]);
  });
}

describe('an atomic batch', () => {
  atomic('answers the result of each operation, in order', async () => {
    const { result } = await batch([
      account('anna', 5),
      { op: 'upsert', table: 'players', row: { citizen: 'A1', cash: 1.5 }, keys: ['citizen'] },
      { op: 'update', table: 'players', filter: eq('citizen', 'A1'), inc: { cash: '0.25' } },
      { op: 'delete', table: 'log', all: true },
      { op: 'insert', table: 'lines', rows: [{ n: 1 }, { n: 2 }] },
    ]);
    expect(result).toEqual({
      results: [{ inserted: 1, ids: [1] }, { affected: 1 }, { affected: 1 }, { affected: 0 }, { inserted: 2, ids: [] }],
    });
    expect(await rows('players')).toMatchObject([{ citizen: 'A1', cash: 1.75 }]);
  });

  atomic('a guarded transfer with its log row is done as a whole or not at all', async () => {
    await batch([account('anna', 10), account('bert')]);
    const transfer = (amount: number) =>
      batch([
        take('anna', amount, { affected: 1 }),
        give('bert', amount, { affected: 1 }),
        { op: 'insert', table: 'log', rows: [{ text: `${amount}` }], expect: { affected: 1 } },
      ]);
    expect(outcome(await transfer(7))).toBe('200');
    const refused = await transfer(7);
    expect(refusal(refused)).toBe('409 expectation_failed 0');
    expect(errorOf(refused).message).toMatch(/^operations\[0\]: .*1.*0/);
    expect((await rows('accounts')).map(({ money }) => money)).toEqual([3, 7]);
    expect(await rows('log')).toMatchObject([{ text: '7' }]);
  });

  atomic('deletes a character from 30 tables in one call', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `things${i}`);
    const tables = names.map((name) => ({ ...LINES, name }));
    namespace = await declare(world.client, ...tables);
    await batch(names.map((table) => ({ op: 'insert', table, rows: [{ n: 1 }, { n: 2 }] })));
    const removal = names.map((table) => ({ op: 'delete', table, filter: eq('n', 1) }));
    const { result } = await batch([...removal, ...removal.slice(0, 1)]);
    expect(result).toEqual({ results: [...names.map(() => ({ affected: 1 })), { affected: 0 }] });
    for (const table of names) expect(await rows(table)).toEqual([{ n: 2, text: null }]);
  });

  atomic('undoes everything for one failure, which names its operation', async () => {
    const before = [account('anna', 1), { op: 'insert', table: 'lines', rows: [{ n: 1 }] }];
    const failures: [object, string][] = [
      [account('anna'), '409 constraint_violation 2'],
      [{ op: 'insert', table: 'lines', rows: [{ n: 'x' }] }, '400 invalid_value 2'],
      [{ op: 'insert', table: 'nothing', rows: [{ n: 1 }] }, '404 unknown_table 2'],
      [{ op: 'update', table: 'lines', filter: eq('m', 1), set: { n: 2 } }, '400 unknown_column 2'],
      [{ op: 'update', table: 'lines', set: { n: 2 } }, '400 filter_required 2'],
      [{ op: 'update', table: 'accounts', all: true, inc: { money: JSON_INT64_MAX } }, '400 invalid_value 2'],
      [{ op: 'delete', table: 'lines', all: true, expect: { affected: 2 } }, '409 expectation_failed 2'],
    ];
    for (const [failing, expected] of failures) {
      const answer = await batch([...before, failing, account('late')]);
      expect(refusal(answer), JSON.stringify(failing)).toBe(expected);
      expect(errorOf(answer).message).toMatch(/^operations\[2\]/);
    }
    expect([...(await rows('accounts')), ...(await rows('lines'))]).toEqual([]);
  });

  atomic('takes ids of rows that it has inserted', async () => {
    const of = (operation: number, row = 0) => ({ $result: [operation, row] });
    const { result } = await batch([
      { op: 'insert', table: 'accounts', rows: [{ owner: 'anna' }, { owner: 'bert' }] },
      { op: 'insert', table: 'log', rows: [{ account: of(0, 1), data: of(0, 1) }, { account: of(0) }] },
      { op: 'upsert', table: 'players', row: { citizen: 'A1', account: of(1, 1) }, keys: ['citizen'] },
      {
        op: 'update',
        table: 'accounts',
        filter: { not: { field: 'id', op: 'in', value: [of(0)] } },
        set: { money: of(0, 1) },
      },
      { op: 'insert', table: 'players', rows: [{ citizen: 'B2' }] },
      { op: 'update', table: 'players', filter: eq('citizen', of(4)), set: { dead: true }, expect: { affected: 1 } },
    ]);
    expect(result).toMatchObject({
      results: [{ ids: [1, 2] }, { ids: [1, 2] }, {}, { affected: 1 }, { ids: ['B2'] }, {}],
    });
    expect((await rows('log')).map(({ account: id }) => id)).toEqual([2, 1]);
    expect((await rows('log'))[0]).toMatchObject({ data: { $result: [0, 1] } });
    expect(await rows('players')).toMatchObject([
      { account: 2, dead: false },
      { citizen: 'B2', dead: true },
    ]);
    expect((await rows('accounts')).map(({ money }) => money)).toEqual([0, 2]);
  });

  atomic('refuses a reference that leads nowhere, and says where it stands', async () => {
    const insert = { op: 'insert', table: 'accounts', rows: [{ owner: 'anna' }] };
    const use = (reference: unknown, column = 'account') => ({
      op: 'insert',
      table: 'log',
      rows: [{ [column]: reference }],
    });
    const cases: [object, RegExp][] = [
      [use({ $result: [1, 0] }), /rows\[0\]\.account: operation 1 is no insert before/],
      [use({ $result: [7, 0] }), /operation 7/],
      [use({ $result: [0, 1] }), /operation 0 inserts 1 rows/],
      [use({ $result: [0] }), /expected \{"\$result": \[operation, row\]\}/],
      [use({ $result: [0, 0], more: 1 }), /expected/],
      [use({ $result: [0, -1] }), /expected/],
      [use({ $result: [0, 0] }, 'text'), /rows\[0\]\.text/],
    ];
    for (const [failing, message] of cases) {
      const answer = await batch([insert, failing]);
      expect(refusal(answer), JSON.stringify(failing)).toBe('400 invalid_value 1');
      expect(errorOf(answer).message).toMatch(message);
    }
    const keyless = await batch([{ op: 'insert', table: 'lines', rows: [{ n: 1 }] }, use({ $result: [0, 0] })]);
    expect(errorOf(keyless)).toMatchObject({ code: 'invalid_value', index: 1 });
    expect(await rows('accounts')).toEqual([]);
  });

  atomic('a reference whose id does not fit is refused when it is known, and nothing is done', async () => {
    await batch([{ op: 'insert', table: 'accounts', rows: [{ id: 3_000_000_000, owner: 'far' }] }]);
    const answer = await batch([
      account('anna'),
      { op: 'update', table: 'lines', all: true, set: { n: { $result: [0, 0] } } },
    ]);
    expect(refusal(answer)).toBe('400 invalid_value 1');
    expect(await rows('accounts')).toHaveLength(1);
  });

  atomic('sets different values of many rows by their keys, and tells which were there', async () => {
    const citizens = Array.from({ length: 150 }, (_, i) => `C${i}`);
    for (let at = 0; at < 150; at += 50) {
      await batch([
        { op: 'insert', table: 'players', rows: citizens.slice(at, at + 50).map((citizen) => ({ citizen })) },
      ]);
    }
    const set = (i: number) => ({
      cash: `${i}.5`,
      position: i % 3 === 0 ? null : { x: i, y: -0.125, name: `ü${i}'\\` },
      health: i === 7 ? null : i / 3,
      seen: `2026-01-01T00:00:00.${String(i).padStart(3, '0')}Z`,
      face: Buffer.from([i, 0, 255]).toString('base64'),
      dead: i % 2 === 0,
    });
    const save = (citizen: string, i: number) => ({
      op: 'update',
      table: 'players',
      filter: eq('citizen', citizen),
      set: set(i),
    });
    const all = [...citizens.slice(0, 90), 'missing', ...citizens.slice(90)];
    const { result } = await batch(all.map(save));
    expect((result as { results: unknown[] }).results).toEqual(
      all.map((name) => ({ affected: name === 'missing' ? 0 : 1 })),
    );
    const found = await rowsOf(world.client, { namespace, table: 'players', limit: 1000 });
    const expected = all.flatMap((citizen, i) =>
      citizen === 'missing' ? [] : [{ citizen, account: null, ...set(i), cash: Number(`${i}.5`) }],
    );
    const byName = (a: Record<string, unknown>, b: Record<string, unknown>) =>
      String(a.citizen) < String(b.citizen) ? -1 : 1;
    expect(found.toSorted(byName)).toEqual(expected.toSorted(byName));
    const guarded = all.slice(80, 100).map((citizen, i) => ({ ...save(citizen, i + 200), expect: { affected: 1 } }));
    expect(refusal(await batch(guarded))).toBe('409 expectation_failed 10');
    const none = Array.from({ length: 9 }, (_, i) => save(`nobody${i}`, i));
    expect((await batch(none)).result).toEqual({ results: none.map(() => ({ affected: 0 })) });
  });

  atomic('makes operations on one row in their order', async () => {
    const set = (n: number) => ({
      op: 'update',
      table: 'lines',
      filter: { field: 'n', op: 'gte', value: 0 },
      set: { n },
    });
    await batch([{ op: 'insert', table: 'lines', rows: [{ n: 0 }] }, set(5), set(6), set(7)]);
    expect(await rows('lines')).toMatchObject([{ n: 7 }]);
    const owner = (citizen: string, cash: number) => ({
      op: 'update',
      table: 'players',
      filter: eq('citizen', citizen),
      set: { cash },
    });
    await batch([{ op: 'insert', table: 'players', rows: ['a', 'b', 'c'].map((citizen) => ({ citizen })) }]);
    const names = ['a', 'b', 'c', 'a', 'b', 'c', 'c', 'c', 'a', 'b'];
    await batch(names.map((citizen, i) => owner(citizen, i)));
    expect((await rows('players')).map(({ cash }) => cash)).toEqual([8, 9, 7]);
  });

  atomic('reads rows without a key in the order in which its operations inserted them', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => i);
    await batch(texts.map((n) => ({ op: 'insert', table: 'lines', rows: [{ n }, { n: n + 100 }] })).slice(0, 25));
    expect((await rows('lines')).map(({ n }) => n)).toEqual(texts.slice(0, 25).flatMap((n) => [n, n + 100]));
  });

  atomic('a generator at its end is a refusal, also where an earlier operation took the last id', async () => {
    const last = { op: 'insert', table: 'accounts', rows: [{ id: JSON_INT64_MAX, owner: 'last' }] };
    const refused = await batch([account('anna'), last, account('more')]);
    expect(refusal(refused)).toBe('409 constraint_violation 2');
    expect(await rows('accounts')).toEqual([]);
  });

  atomic('with a key is done once, and answered again as it was answered first', async () => {
    await batch([account('anna', 10), account('bert')]);
    const keyed = () => batch([take('anna', 10, { affected: 1 }), give('bert', 10)], { idempotencyKey: 'once' });
    const first = await keyed();
    expect(first.result).toEqual({ results: [{ affected: 1 }, { affected: 1 }] });
    expect((await keyed()).text).toBe(first.text);
    const twins = await Promise.all(
      Array.from({ length: 12 }, () => batch([account('carl')], { idempotencyKey: 'twin' })),
    );
    expect(new Set(twins.map(({ text }) => text)).size).toBe(1);
    const other = await batch([give('bert', 1)], { idempotencyKey: 'once' });
    expect(refusal(other)).toBe('422 idempotency_conflict -');
    const failing = () => batch([account('dora'), take('anna', 1, { affected: 1 })], { idempotencyKey: 'failing' });
    expect(refusal(await failing())).toBe('409 expectation_failed 1');
    await batch([give('anna', 1)]);
    expect(outcome(await failing())).toBe('200');
    expect((await rows('accounts')).map(({ money }) => money)).toEqual([0, 10, 0, 0]);
  });

  atomic('many at once on the same rows all succeed, and nothing is lost', async () => {
    await batch(['a', 'b', 'c'].map((owner) => account(owner, 1000)));
    const names = ['a', 'b', 'c'];
    const transfers = Array.from({ length: 60 }, (_, i) =>
      batch([
        take(names[i % 3] as string, 1, { affected: 1 }),
        give(names[(i + 1) % 3] as string, 1, { affected: 1 }),
        { op: 'insert', table: 'log', rows: [{ text: `${i}` }] },
      ]),
    );
    const outcomes = (await Promise.all(transfers)).map(outcome);
    expect(new Set(outcomes)).toEqual(new Set(['200']));
    expect(await world.client.must('count', { namespace, table: 'log' })).toEqual({ count: 60 });
    const money = (await rows('accounts')).map((row) => Number(row.money));
    expect(money.reduce((sum, each) => sum + each, 0)).toBe(3000);
  });

  atomic('many at once that take the same rows to and fro all succeed', async () => {
    const owners = Array.from({ length: 20 }, (_, i) => `owner${i}`);
    await batch(owners.map((owner) => account(owner)));
    const there = owners.map((owner) => give(owner, 1, { affected: 1 }));
    const back = there.toReversed();
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => batch(i % 2 === 0 ? there : back)));
    expect(new Set(answers.map(outcome))).toEqual(new Set(['200']));
    expect((await rows('accounts')).map(({ money }) => money)).toEqual(owners.map(() => 60));
  });
});

describe('a batch that is not atomic', () => {
  it('goes on behind a failure, and answers each operation by itself', async () => {
    const { result } = await apart([
      account('anna', 1),
      account('anna', 2),
      { op: 'insert', table: 'nothing', rows: [{}] },
      { op: 'update', table: 'accounts', filter: eq('owner', 'anna'), inc: { money: 5 } },
      { op: 'insert', table: 'lines', rows: [{ n: 'x' }] },
      { op: 'update', table: 'lines', set: { n: 1 } },
      { op: 'upsert', table: 'players', row: { citizen: 'A1' }, keys: ['citizen'] },
      account('bert'),
      { op: 'insert', table: 'log', rows: [{ account: { $result: [0, 0] } }] },
      { op: 'delete', table: 'accounts', filter: eq('owner', 'bert') },
    ]);
    const failed = (code: string) => ({ error: { code, message: expect.any(String) } });
    expect(result).toEqual({
      results: [
        { inserted: 1, ids: [expect.any(Number)] },
        failed('constraint_violation'),
        failed('unknown_table'),
        { affected: 1 },
        failed('invalid_value'),
        failed('filter_required'),
        { affected: 1 },
        { inserted: 1, ids: [expect.any(Number)] },
        failed('invalid_value'),
        { affected: 1 },
      ],
    });
    expect(await rows('accounts')).toMatchObject([{ owner: 'anna', money: 6 }]);
  });

  it('of which nothing fails is done in order', async () => {
    const ops = Array.from({ length: 30 }, (_, i) => ({
      op: 'upsert',
      table: 'players',
      row: { citizen: `C${i % 10}`, cash: i },
      keys: ['citizen'],
    }));
    expect((await apart(ops)).result).toEqual({ results: ops.map(() => ({ affected: 1 })) });
    expect((await rows('players')).map(({ cash }) => Number(cash))).toEqual(
      Array.from({ length: 10 }, (_, i) => 20 + i),
    );
  });

  it('with a key does nothing twice', async () => {
    const ops = [
      account('anna', 1),
      account('anna'),
      { op: 'update', table: 'accounts', all: true, inc: { money: 1 } },
    ];
    const first = await apart(ops, { idempotencyKey: 'k' });
    expect((await apart(ops, { idempotencyKey: 'k' })).text).toBe(first.text);
    expect(outcome(await apart(ops.slice(1), { idempotencyKey: 'k' }))).toBe('422 idempotency_conflict');
    const twins = await Promise.all(
      Array.from({ length: 8 }, () => apart([account('bert', 1)], { idempotencyKey: 'twin' })),
    );
    expect(new Set(twins.map(({ text }) => text)).size).toBe(1);
    expect((await rows('accounts')).map(({ money }) => money)).toEqual([2, 1]);
  });

  it('a generator at its end fails its own operation alone', async () => {
    const { result } = await apart([
      { op: 'insert', table: 'log', rows: [{ id: 2_147_483_647, text: 'last' }] },
      { op: 'insert', table: 'log', rows: [{ text: 'more' }] },
      { op: 'insert', table: 'lines', rows: [{ n: 1 }] },
    ]);
    expect(result).toMatchObject({
      results: [{ inserted: 1 }, { error: { code: 'constraint_violation' } }, { inserted: 1 }],
    });
  });
});

describe('what is refused as a whole', () => {
  const insert = { op: 'insert', table: 'lines', rows: [{ n: 1 }] };
  const refused: [name: string, payload: object, expected: string][] = [
    ['no operation', { operations: [] }, '400 invalid_request -'],
    ['too many operations', { operations: Array.from({ length: 1001 }, () => insert) }, '400 invalid_request -'],
    ['no list', { operations: insert }, '400 invalid_request -'],
    ['no object', { operations: [insert, 5] }, '400 invalid_request 1'],
    ['no op', { operations: [insert, { table: 'lines', rows: [{}] }] }, '400 invalid_request 1'],
    ['another operation', { operations: [insert, { op: 'find', table: 'lines' }] }, '400 invalid_request 1'],
    ['an op without its own properties', { operations: [{ op: 'insert', table: 'lines' }] }, '400 invalid_request 0'],
    ['a filter that is none', { operations: [{ op: 'delete', table: 'lines', filter: 5 }] }, '400 invalid_filter 0'],
    ['a bad table', { operations: [insert, { ...insert, table: 'No!' }] }, '400 invalid_identifier 1'],
    ['a bad expect', { operations: [{ ...insert, expect: { affected: -1 } }] }, '400 invalid_request 0'],
    [
      'an expect where each is for itself',
      { atomic: false, operations: [insert, { ...insert, expect: { affected: 1 } }] },
      '400 invalid_request 1',
    ],
    [
      'a filter and all',
      { atomic: false, operations: [{ op: 'delete', table: 'lines', all: true, filter: eq('n', 1) }] },
      '400 invalid_request 0',
    ],
    [
      'too many rows in all',
      {
        atomic: false,
        operations: Array.from({ length: 7 }, () => ({
          ...insert,
          rows: Array.from({ length: 10 }, () => ({ n: 1 })),
        })),
      },
      '413 too_many_rows 6',
    ],
  ];
  it.each(refused)('%s', async (_name, payload, expected) => {
    expect(refusal(await world.client.call('batch', { namespace, ...payload }))).toBe(expected);
    expect(await rows('lines')).toEqual([]);
  });

  it('what the key may not do, by operation, before anything is looked up', async () => {
    const as = (kid: string, operations: object[]) =>
      world.sidecar.clientOf(kid).call('batch', { namespace, operations, atomic: false }).then(refusal);
    const nowhere = { op: 'delete', table: 'nowhere', filter: eq('n', 1) };
    expect(await as('single', [insert])).toBe('403 forbidden -');
    expect(await as('narrow', [insert, nowhere])).toBe('403 forbidden 1');
    expect(await as('careful', [insert, { op: 'delete', table: 'nowhere', all: true }])).toBe('403 forbidden 1');
    expect(await rows('lines')).toEqual([]);
    expect(
      outcome(await world.sidecar.clientOf('narrow').call('batch', { namespace, operations: [insert], atomic: false })),
    ).toBe('200');
  });
});

it('health tells whether an atomic batch works', async () => {
  const { capabilities } = await world.client.must<{ capabilities: object }>('health', {});
  const { transactions, filterableJson } = world.sidecar.capabilities;
  expect(capabilities).toEqual({ transactions, filterableJson });
});
