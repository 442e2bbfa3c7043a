import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterUnderTest } from '../support/cluster/cluster-under-test.ts';
import { keyOf, startSidecar, type TestSidecar, unique } from '../support/sidecar.ts';
import type { Answer } from '../support/signed-client.ts';
import { expectCountedOn } from './data-world.ts';

let sidecar: TestSidecar;

beforeAll(async () => {
  sidecar = await startSidecar({ config: { keys: [keyOf('local')] } });
});

afterAll(async () => {
  await sidecar.stop();
});

/** A namespace of its own, and the calls that the tests make of it. */
function namespaceOf(owner = () => sidecar) {
  const namespace = unique('n');
  const call = (operation: string, payload: object = {}): Promise<Answer> =>
    owner().client.call(operation, { namespace, ...payload });
  return {
    namespace,
    call,
    sync: (...tables: object[]) => call('schema.sync', { schema: { tables } }),
    dryRun: (...tables: object[]) => call('schema.sync', { schema: { tables }, dryRun: true }),
    describe: async () => (await call('schema.describe')).result,
    insert: (table: string, ...rows: object[]) => call('insert', { table, rows }),
    rows: async (table: string) => (await call('find', { table })).result.rows as Record<string, unknown>[],
  };
}

const ID = { name: 'id', type: 'int64' };
const table = (...columns: object[]) => ({ name: 't', primaryKey: ['id'], columns: [ID, ...columns] });
const C = (type: string, more: object = {}) => ({ name: 'c', type, ...more });

describe('sync and describe', () => {
  it('describes nothing before the first sync, and the normalised form after it', async () => {
    const game = namespaceOf();
    expect(await game.describe()).toEqual({ namespace: game.namespace, hash: null, schema: null, updatedAt: null });
    const { result } = await game.sync(table(C('string')));
    expect(result).toEqual({
      namespace: game.namespace,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      changed: true,
      dryRun: false,
      status: 'applied',
      plan: [{ kind: 'createTable', table: 't', note: expect.any(String), destructive: false }],
    });
    const plain = { nullable: false, unique: false, autoIncrement: false };
    expect(await game.describe()).toEqual({
      namespace: game.namespace,
      hash: result.hash,
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      schema: {
        tables: [
          {
            name: 't',
            primaryKey: ['id'],
            columns: [
              { name: 'id', type: 'int64', ...plain },
              { name: 'c', type: 'string', length: 255, ...plain },
            ],
            indexes: [],
          },
        ],
      },
    });
  });

  it('is unchanged the second time, and ignores renamedFrom then', async () => {
    const game = namespaceOf();
    const first = await game.sync(table());
    const again = { namespace: game.namespace, hash: first.result.hash, changed: false, dryRun: false, plan: [] };
    expect((await game.sync(table())).result).toEqual({ ...again, status: 'unchanged' });
    expect((await game.sync({ ...table(), renamedFrom: 'old' })).result).toEqual({ ...again, status: 'unchanged' });
    expect((await game.dryRun(table())).result).toEqual({ ...again, dryRun: true, status: 'unchanged' });
  });

  it('applies an empty plan where only the order of columns differs', async () => {
    const game = namespaceOf();
    const first = await game.sync(table(C('string')));
    const turned = await game.sync({ name: 't', primaryKey: ['id'], columns: [C('string'), ID] });
    expect(turned.result).toMatchObject({ status: 'applied', changed: true, plan: [] });
    expect(turned.result.hash).not.toBe(first.result.hash);
  });

  it('takes an empty list of tables', async () => {
    const game = namespaceOf();
    expect((await game.sync()).result).toMatchObject({ status: 'applied', changed: true, plan: [] });
    expect(await game.describe()).toMatchObject({ schema: { tables: [] } });
    expect((await game.call('find', { table: 't' })).code).toBe('unknown_table');
  });

  it('plans in a dry run, and changes nothing', async () => {
    const game = namespaceOf();
    const planned = await game.dryRun(table());
    expect(planned.result).toMatchObject({ status: 'planned', changed: true, dryRun: true });
    expect(await game.describe()).toMatchObject({ schema: null });
    expect((await game.call('find', { table: 't' })).code).toBe('namespace_unknown');
    expect((await game.sync(table())).result.hash).toBe(planned.result.hash);
  });

  it('names unknown properties in warnings', async () => {
    const game = namespaceOf();
    const { result } = await game.sync({ ...table({ ...C('string'), lenght: 3 }), comment: 'x' });
    expect(result.status).toBe('applied');
    expect(result.warnings).toHaveLength(2);
    expect(String(result.warnings)).toContain('lenght');
    expect((await game.sync(table({ ...C('string'), lenght: 3 }))).result.warnings).toHaveLength(1);
  });

  it('refuses a schema that is not valid, and changes nothing', async () => {
    const game = namespaceOf();
    for (const broken of [
      { name: 't', columns: [] },
      table(C('string', { length: 0 })),
      table(C('int32', { default: 'x' })),
    ]) {
      expect(await game.sync(broken)).toMatchObject({ status: 400, code: 'invalid_schema', isVerified: true });
    }
    expect(await game.sync({ ...table(), name: 'A' })).toMatchObject({ status: 400, code: 'invalid_identifier' });
    expect(await game.describe()).toMatchObject({ schema: null });
  });
});

describe('rows through a sync', () => {
  it('keeps rows and values through renames of table and column', async () => {
    const game = namespaceOf();
    const indexes = [{ name: 'by_c', columns: ['c'], unique: true }];
    await game.sync({ ...table(C('string')), indexes });
    await game.insert('t', { id: 1, c: 'a' }, { id: 2, c: 'b' });
    const renamed = {
      name: 'people',
      renamedFrom: 't',
      primaryKey: ['key'],
      columns: [
        { ...ID, name: 'key', renamedFrom: 'id' },
        { ...C('string'), name: 'label', renamedFrom: 'c' },
      ],
      indexes: [{ name: 'by_c', columns: ['label'], unique: true }],
    };
    expect((await game.sync(renamed)).result.plan).toMatchObject([
      { kind: 'renameTable', table: 't', newName: 'people' },
      { kind: 'renameColumn', table: 'people', column: 'id', newName: 'key' },
      { kind: 'renameColumn', table: 'people', column: 'c', newName: 'label' },
    ]);
    expect(await game.rows('people')).toEqual([
      { key: 1, label: 'a' },
      { key: 2, label: 'b' },
    ]);
    expect((await game.insert('people', { key: 3, label: 'b' })).code).toBe('constraint_violation');
    expect((await game.call('find', { table: 't' })).code).toBe('unknown_table');
    // The old name is free again, with its index.
    const { renamedFrom: _, ...settled } = renamed;
    const columns = renamed.columns.map(({ renamedFrom, ...column }) => column);
    const both = [
      { ...settled, columns },
      { ...table(C('string')), indexes },
    ];
    expect((await game.sync(...both)).result.plan).toMatchObject([{ kind: 'createTable', table: 't' }]);
    expect(await game.rows('t')).toEqual([]);
  });

  it('fills new columns: NULL, default, now, random', async () => {
    const game = namespaceOf();
    await game.sync(table());
    await game.insert('t', { id: 1 }, { id: 2 });
    const { status } = await game.sync(
      table(
        { name: 'plain', type: 'string', nullable: true },
        { name: 'filled', type: 'decimal', nullable: true, default: '1.50' },
        { name: 'required', type: 'json', default: { a: [1] } },
        { name: 'asked', type: 'string', default: "why? \\ 'so'" },
        { name: 'made', type: 'datetime', default: 'now' },
        { name: 'day', type: 'date', nullable: true, default: 'now' },
        { name: 'code', type: 'uuid', default: 'random', unique: true },
        { name: 'other', type: 'uuid', nullable: true, default: 'random' },
      ),
    );
    expect(status).toBe(200);
    const [first, second] = await game.rows('t');
    expect(first).toMatchObject({ id: 1, plain: null, filled: 1.5, required: { a: [1] }, asked: "why? \\ 'so'" });
    expect(Math.abs(Date.parse(String(first?.made)) - Date.now())).toBeLessThan(60_000);
    expect(String(first?.made)).toContain(String(first?.day));
    expect(first?.code).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(second?.code).not.toBe(first?.code);
    expect(second?.other).not.toBe(first?.other);
  });

  it('widens and narrows with exact values', async () => {
    const game = namespaceOf();
    const numbers = (i: object, d: object, s: object) =>
      table({ name: 'i', ...i }, { name: 'd', ...d }, { name: 's', ...s });
    const small = numbers(
      { type: 'int32' },
      { type: 'decimal', precision: 6, scale: 2 },
      { type: 'string', length: 2 },
    );
    await game.sync(small);
    await game.insert('t', { id: 1, i: -2147483648, d: '-1234.56', s: '🎉é' }, { id: 2, i: 7, d: 0, s: '' });
    const before = (await game.call('find', { table: 't' })).text;
    const large = numbers(
      { type: 'decimal', precision: 30, scale: 10 },
      { type: 'decimal', precision: 34, scale: 20 },
      { type: 'text' },
    );
    expect((await game.sync(large)).result.plan).toMatchObject([
      { kind: 'alterColumn', destructive: false },
      { kind: 'alterColumn', destructive: false },
      { kind: 'alterColumn', destructive: false },
    ]);
    expect((await game.call('find', { table: 't' })).text).toBe(before);
    const sorted = await game.call('find', { table: 't', sort: [{ field: 'd' }] });
    expect(sorted.result.rows).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect((await game.sync(small)).result.status).toBe('applied');
    expect((await game.call('find', { table: 't' })).text).toBe(before);
  });

  it('counts on with generated ids through every change, and after a table comes again', async () => {
    const game = namespaceOf();
    const counted = (name: string, ...columns: object[]) => ({
      name,
      primaryKey: ['id'],
      columns: [{ ...ID, autoIncrement: true }, ...columns],
    });
    const given: Record<string, number[]> = { t: [], u: [] };
    const next = async (name: string, before = given[name] ?? []) => {
      const { result } = await game.insert(name, {});
      const [id] = result.ids as [number];
      expectCountedOn(id, ...before);
      given[name]?.push(id);
    };
    await game.sync(counted('t'));
    await next('t');
    await next('t');
    await game.call('delete', { table: 't', all: true });
    await game.sync(counted('t', { name: 'n', type: 'int32', default: 1 }));
    await next('t');
    await game.sync({ ...counted('u', { name: 'n', type: 'int32', default: 1 }), renamedFrom: 't' });
    await next('u', given.t);
    await game.sync();
    await game.sync(counted('u'), counted('t'));
    expect(await game.rows('u')).toEqual([]);
    await next('u');
    await next('t');
  });

  it('keeps the order of insertion of a table without key', async () => {
    const game = namespaceOf();
    const keyless = (...columns: object[]) => ({ name: 't', columns });
    await game.sync(keyless(C('int32')));
    for (const c of [3, 1, 2]) await game.insert('t', { c });
    await game.sync(keyless(C('decimal'), { name: 'x', type: 'string', default: '' }));
    await game.insert('t', { c: 0 });
    expect((await game.rows('t')).map((row) => row.c)).toEqual([3, 1, 2, 0]);
    const numbered = {
      name: 't',
      primaryKey: ['n'],
      columns: [C('decimal'), { ...ID, name: 'n', autoIncrement: true }],
    };
    await game.sync(numbered);
    expect(await game.rows('t')).toEqual([
      { c: 3, n: 1 },
      { c: 1, n: 2 },
      { c: 2, n: 3 },
      { c: 0, n: 4 },
    ]);
  });

  it('does not bring back what was taken out when its name is declared again', async () => {
    const game = namespaceOf();
    await game.sync(table(C('string', { nullable: true })));
    await game.insert('t', { id: 1, c: 'old' });
    await game.sync(table());
    await game.sync(table(C('string', { nullable: true })));
    expect(await game.rows('t')).toEqual([{ id: 1, c: null }]);
    await game.sync();
    await game.sync(table());
    expect(await game.rows('t')).toEqual([]);
  });

  it('makes an index that repeats the key, a unique column or another index, and works with it', async () => {
    const game = namespaceOf();
    const repeating = {
      ...table(C('string', { unique: true })),
      indexes: [
        { name: 'a', columns: ['id'], unique: true },
        { name: 'b', columns: ['c'] },
        { name: 'd', columns: ['c'], unique: true },
        { name: 'e', columns: ['c', 'id'] },
        { name: 'f', columns: ['c', 'id'] },
      ],
    };
    expect((await game.sync(repeating)).status).toBe(200);
    await game.insert('t', { id: 1, c: 'x' });
    expect((await game.insert('t', { id: 2, c: 'x' })).code).toBe('constraint_violation');
    // The column is no longer unique, but one of the indexes is.
    expect((await game.sync({ ...repeating, columns: [ID, C('string')] })).status).toBe(200);
    expect((await game.insert('t', { id: 2, c: 'x' })).code).toBe('constraint_violation');
    const { indexes, ...rest } = repeating;
    expect((await game.sync({ ...rest, columns: [ID, C('string')], indexes: [indexes[1], indexes[3]] })).status).toBe(
      200,
    );
    expect((await game.insert('t', { id: 2, c: 'x' })).status).toBe(200);
  });

  it('keeps every digit of integers that become decimals and come back', async () => {
    const game = namespaceOf();
    const ends = '[{"id":1,"c":-9223372036854775808},{"id":2,"c":9223372036854775807},{"id":3,"c":9007199254740993}]';
    await game.sync(table(C('int64')));
    const insert = `{"namespace":"${game.namespace}","table":"t","rows":${ends}}`;
    expect((await sidecar.client.call('insert', insert)).status).toBe(200);
    for (const type of [
      C('decimal', { precision: 25, scale: 6 }),
      C('decimal', { precision: 34, scale: 0 }),
      C('int64'),
    ]) {
      expect((await game.sync(table(type))).status).toBe(200);
      expect((await game.call('find', { table: 't' })).text).toBe(`{"rows":${ends},"hasMore":false}`);
    }
  });

  it('takes names that mean something to databases', async () => {
    const columns = ['rowid', 'oid', 'select', 'index', 'value', 'row', 'kept', 'k0', 'id'];
    const declared = (type: string, names: string[]) => ({
      name: 'order',
      primaryKey: ['rowid'],
      columns: names.map((name) => ({ name, type: name === 'rowid' ? 'string' : type, unique: name === 'index' })),
      indexes: [{ name: 'table', columns: ['select', 'oid'] }],
    });
    for (const namespace of ['sqlite', 'sqlite_x', 'main', 'pg', 'mysql']) {
      const must = (operation: string, payload: object) => sidecar.client.must(operation, { namespace, ...payload });
      await must('schema.sync', { schema: { tables: [declared('int32', columns)] } });
      const rows = [Object.fromEntries(columns.map((name, i) => [name, name === 'rowid' ? 'b' : i]))];
      await must('insert', { table: 'order', rows });
      await must('schema.sync', { schema: { tables: [declared('decimal', columns.slice(0, 4))] } });
      const { value, row, kept, k0, id, ...left } = rows[0] ?? {};
      expect(await must('find', { table: 'order' })).toMatchObject({ rows: [left] });
      await must('schema.sync', { schema: { tables: [] } });
    }
  });

  it('takes names of the greatest length', async () => {
    const game = namespaceOf();
    const long = (length: number, last: string) => `${'x'.repeat(length - 1)}${last}`;
    const columns = ['1', '2'].map((last) => ({ name: long(48, last), type: 'int32', unique: true }));
    const indexes = ['3', '4'].map((last) => ({ name: long(48, last), columns: columns.map(({ name }) => name) }));
    const tables = ['5', '6'].map((last) => ({ name: long(36, last), columns, indexes }));
    expect((await game.sync(...tables)).status).toBe(200);
    expect(
      (
        await game.sync(
          ...tables.map((entry) => ({ ...entry, columns: columns.map((c) => ({ ...c, unique: false })) })),
        )
      ).status,
    ).toBe(200);
    expect((await game.sync()).status).toBe(200);
  });
});

describe('what does not fit', () => {
  const keyless = (more: object = {}) => ({ name: 't', columns: [ID, C('int32', more)] });
  const row = (id: number, c: unknown) => ({ id, c });
  it.each([
    ['a longer string', table(C('string')), [row(1, '🎉🎉🎉')], table(C('string', { length: 2 }))],
    ['text over 4000 characters', table(C('text')), [row(1, 'x'.repeat(4001))], table(C('string', { length: 4000 }))],
    ['an int64 beyond int32', table(C('int64')), [row(1, 2147483648)], table(C('int32'))],
    ['a fraction', table(C('decimal')), [row(1, 1.5)], table(C('int64'))],
    [
      'more digits after the point',
      table(C('decimal', { scale: 4 })),
      [row(1, 0.001)],
      table(C('decimal', { scale: 2 })),
    ],
    [
      'more digits before the point',
      table(C('decimal', { precision: 30, scale: 0 })),
      [row(1, 12345)],
      table(C('decimal', { precision: 4, scale: 0 })),
    ],
    [
      'an integer too large for a decimal',
      table(C('int32')),
      [row(1, 100)],
      table(C('decimal', { precision: 3, scale: 1 })),
    ],
    ['NULL, default or not', table(C('int32', { nullable: true })), [row(1, null)], table(C('int32', { default: 5 }))],
    ['a new required column', table(), [{ id: 1 }], table(C('int32'))],
    [
      'duplicates under a unique column',
      table(C('int32')),
      [row(1, 5), row(2, 5)],
      table(C('int32', { unique: true })),
    ],
    [
      'duplicates under a unique index',
      table(C('int32')),
      [row(1, 5), row(2, 5)],
      { ...table(C('int32')), indexes: [{ name: 'i', columns: ['c'], unique: true }] },
    ],
    [
      'one default for a new unique column',
      table(),
      [{ id: 1 }, { id: 2 }],
      table(C('int32', { unique: true, default: 1 })),
    ],
    ['duplicates under a new key', keyless(), [row(1, 5), row(2, 5)], { ...keyless(), primaryKey: ['c'] }],
    ['NULL under a new key', keyless({ nullable: true }), [row(1, null)], { ...keyless(), primaryKey: ['c'] }],
  ])('%s', async (_, stored, rows, declared) => {
    const game = namespaceOf();
    expect((await game.sync(stored)).status).toBe(200);
    expect((await game.insert('t', ...rows)).status).toBe(200);
    const before = [await game.describe(), await game.rows('t')];
    for (const refused of [await game.dryRun(declared), await game.sync(declared)]) {
      expect(refused).toMatchObject({ status: 409, code: 'data_does_not_fit', isVerified: true });
      expect(refused.message).toContain(`${game.namespace}.t`);
    }
    expect([await game.describe(), await game.rows('t')]).toEqual(before);
    await game.call('delete', { table: 't', all: true });
    expect((await game.dryRun(declared)).result).toMatchObject({ status: 'planned' });
    expect((await game.sync(declared)).result).toMatchObject({ status: 'applied' });
  });

  it('lets many NULLs stand under a new unique column and index', async () => {
    const game = namespaceOf();
    const nullable = { nullable: true };
    await game.sync(table(C('int32', nullable)));
    await game.insert('t', { id: 1 }, { id: 2 }, { id: 3, c: 1 });
    const indexes = [{ name: 'i', columns: ['c', 'd'], unique: true }];
    const added = { name: 'd', type: 'int32', nullable: true, unique: true };
    expect((await game.sync({ ...table(C('int32', { ...nullable, unique: true }), added), indexes })).status).toBe(200);
  });
});

describe('refusals in their order', () => {
  let denying: TestSidecar;
  beforeAll(async () => {
    denying = await startSidecar({ config: { schema: { removed: 'deny' } } });
  });
  afterAll(async () => {
    await denying.stop();
  });

  it('puts unsupported before denied before unfit', async () => {
    const game = namespaceOf(() => denying);
    await game.sync(table(C('int64', { nullable: true }), { name: 'd', type: 'string' }));
    await game.insert('t', { id: 1, d: 'x' });
    const unfit = C('int64');
    expect((await game.sync(table(C('bool')))).code).toBe('unsupported_change');
    expect((await game.dryRun(table(C('bool')))).code).toBe('unsupported_change');
    expect((await game.sync(table(unfit))).code).toBe('destructive_denied');
    const { result } = await game.dryRun(table(unfit));
    expect(result).toMatchObject({ status: 'denied', changed: true, dryRun: true });
    expect(result.plan).toMatchObject([
      { column: 'd', destructive: true },
      { column: 'c', destructive: false },
    ]);
    expect((await game.sync(table(unfit, { name: 'd', type: 'string' }))).code).toBe('data_does_not_fit');
    expect(await game.rows('t')).toEqual([{ id: 1, c: null, d: 'x' }]);
    expect((await game.sync(table(C('int64', { nullable: true }), { name: 'd', type: 'text' }))).status).toBe(200);
  });

  it('denies narrowing and the removal of tables, but not of indexes', async () => {
    const game = namespaceOf(() => denying);
    const indexed = { ...table(C('int64')), indexes: [{ name: 'i', columns: ['c'] }] };
    await game.sync(indexed, { ...table(), name: 'u' });
    expect(await game.sync(indexed)).toMatchObject({ status: 409, code: 'destructive_denied' });
    expect(await game.sync(table(C('int32')), { ...table(), name: 'u' })).toMatchObject({ code: 'destructive_denied' });
    expect((await game.sync(table(C('int64')), { ...table(), name: 'u' })).status).toBe(200);
  });
});

describe('removed: drop', () => {
  it('deletes for good', async () => {
    const dropping = await startSidecar({ config: { schema: { removed: 'drop' } } });
    try {
      const game = namespaceOf(() => dropping);
      await game.sync(table(C('string')), { ...table(), name: 'u' });
      await game.insert('t', { id: 1, c: 'x' });
      expect((await game.sync(table())).result.plan).toMatchObject([
        { kind: 'dropColumn', table: 't', column: 'c', destructive: true },
        { kind: 'dropTable', table: 'u', destructive: true },
      ]);
      expect(await game.rows('t')).toEqual([{ id: 1 }]);
    } finally {
      await dropping.stop();
    }
  });
});

describe('syncs at the same time', () => {
  // A sidecar joins its own syncs. One that another box gets waits for the end of the change, and is answered for itself.
  const itAtOneSidecar = clusterUnderTest() === null ? it : () => {};
  itAtOneSidecar('lets the same declaration join, and refuses another one', async () => {
    const game = namespaceOf();
    await game.sync(table(C('int32')));
    for (let block = 0; block < 10; block += 1) {
      const rows = Array.from({ length: 1000 }, (_, i) => ({ id: block * 1000 + i, c: i }));
      expect((await game.insert('t', ...rows)).status).toBe(200);
    }
    const wide = table(C('decimal'));
    const answers = await Promise.all([
      game.sync(wide),
      game.sync(wide),
      game.sync(table(C('int64'))),
      game.sync(wide),
    ]);
    const [first, joined, other, last] = answers;
    expect(first?.result).toMatchObject({ status: 'applied' });
    expect(joined?.text).toBe(first?.text);
    expect(last?.text).toBe(first?.text);
    expect(other).toMatchObject({ status: 409, code: 'sync_in_progress', isVerified: true });
  });

  it('lets operations wait for a sync, and none of them fails', async () => {
    const game = namespaceOf();
    await game.sync(table(C('int32')));
    const inserts = Array.from({ length: 40 }, (_, id) => game.insert('t', { id, c: id }));
    const synced = game.sync(table(C('decimal'), { name: 'n', type: 'int32', default: 1 }));
    const later = Array.from({ length: 40 }, (_, id) => game.insert('t', { id: 100 + id, c: id }));
    expect((await synced).status).toBe(200);
    for (const answer of await Promise.all([...inserts, ...later])) expect(answer.status).toBe(200);
    expect(await game.rows('t')).toHaveLength(80);
  });

  it('syncs different namespaces side by side', async () => {
    const games = Array.from({ length: 5 }, () => namespaceOf());
    for (const { result } of await Promise.all(games.map((game) => game.sync(table())))) {
      expect(result.status).toBe('applied');
    }
  });
});
