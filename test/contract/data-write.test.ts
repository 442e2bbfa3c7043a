import { beforeEach, describe, expect, it } from 'vitest';
import { declare, itDiffers, outcome, PATIENT, rowsOf, useSidecar } from './data-world.ts';

const NOW = Date.UTC(2024, 1, 29, 12, 0, 0, 7);
const world = useSidecar({ now: () => NOW, config: PATIENT });
let namespace = '';
const ID = { name: 'id', type: 'int64', autoIncrement: true };

beforeEach(async () => {
  namespace = await declare(
    world.client,
    {
      name: 'people',
      primaryKey: ['id'],
      columns: [
        ID,
        { name: 'name', type: 'string', unique: true },
        { name: 'money', type: 'decimal', default: 100 },
        { name: 'level', type: 'int32', nullable: true },
        { name: 'score', type: 'float64', nullable: true },
        { name: 'gold', type: 'decimal', precision: 34, scale: 4, nullable: true },
        { name: 'rank', type: 'int32', nullable: true, unique: true },
      ],
    },
    {
      name: 'seats',
      primaryKey: ['row', 'place'],
      columns: [
        { name: 'row', type: 'int32' },
        { name: 'place', type: 'int32' },
        { name: 'guest', type: 'string', nullable: true, unique: true },
      ],
    },
    {
      name: 'filled',
      columns: [
        { name: 'at', type: 'datetime', default: 'now' },
        { name: 'day', type: 'date', default: 'now' },
        { name: 'token', type: 'uuid', default: 'random' },
        { name: 'word', type: 'string', default: 'now' },
        { name: 'list', type: 'json', default: [1, { a: null }] },
        { name: 'empty', type: 'int32', nullable: true },
      ],
    },
    {
      name: 'short',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int32', autoIncrement: true },
        { name: 'n', type: 'int32', nullable: true },
      ],
    },
  );
});

const call = (operation: string, table: string, payload: object) =>
  world.client.call(operation, { namespace, table, ...payload });
const must = (operation: string, table: string, payload: object) =>
  world.client.must(operation, { namespace, table, ...payload });
const rows = (table: string, payload: object = {}) => rowsOf(world.client, { namespace, table, ...payload });
const named = (name: string) => ({ field: 'name', op: 'eq', value: name });

describe('insert', () => {
  it('fills columns that are left out, and answers ids only for a single key', async () => {
    expect(await must('insert', 'filled', { rows: [{}, {}] })).toEqual({ inserted: 2, ids: [] });
    const [first, second] = await rows('filled');
    expect(first).toMatchObject({
      at: '2024-02-29T12:00:00.007Z',
      day: '2024-02-29',
      word: 'now',
      list: [1, { a: null }],
      empty: null,
    });
    expect(first?.token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(first?.token).not.toBe(second?.token);
    expect(await must('insert', 'seats', { rows: [{ row: 1, place: 1 }] })).toEqual({ inserted: 1, ids: [] });
    expect(await must('insert', 'people', { rows: [{ name: 'a' }, { name: 'b' }] })).toEqual({
      inserted: 2,
      ids: [1, 2],
    });
  });

  it('never gives an id twice: not after a delete, a failed insert or an explicit id', async () => {
    await must('insert', 'people', { rows: [{ name: 'a' }, { name: 'b' }] });
    await must('delete', 'people', { filter: { field: 'id', op: 'gte', value: 1 } });
    expect(await must('insert', 'people', { rows: [{ name: 'c' }] })).toMatchObject({ ids: [3] });
    expect(
      await must('insert', 'people', { rows: [{ name: 'd', id: 50 }, { name: 'e' }, { name: 'f', id: -5 }] }),
    ).toMatchObject({ ids: [50, 51, -5] });
    expect(outcome(await call('insert', 'people', { rows: [{ name: 'g' }, { name: 'c' }] }))).toBe(
      '409 constraint_violation',
    );
    const { ids } = (await must('insert', 'people', { rows: [{ name: 'h' }] })) as { ids: number[] };
    expect(ids[0]).toBeGreaterThanOrEqual(52);
  });

  it('gives ids past 2^53 digit for digit, and ends with 409 at the end of a generator', async () => {
    const near = await world.client.call(
      'insert',
      `{"namespace":"${namespace}","table":"people","rows":[{"name":"a","id":9223372036854775806},{"name":"b"}]}`,
    );
    expect(near.text).toBe('{"inserted":2,"ids":[9223372036854775806,9223372036854775807]}');
    expect(outcome(await call('insert', 'people', { rows: [{ name: 'c' }] }))).toBe('409 constraint_violation');
    await must('insert', 'short', { rows: [{ id: 2_147_483_646 }] });
    expect(await must('insert', 'short', { rows: [{}] })).toMatchObject({ ids: [2_147_483_647] });
    expect(outcome(await call('insert', 'short', { rows: [{}] }))).toBe('409 constraint_violation');
    expect(await must('count', 'short', {})).toEqual({ count: 2 });
    for (const table of ['people', 'short']) {
      await must('delete', table, { all: true });
      expect(outcome(await call('insert', table, { rows: [table === 'people' ? { name: 'd' } : {}] }))).toBe(
        '409 constraint_violation',
      );
      expect(await must('count', table, {})).toEqual({ count: 0 });
    }
  });

  it('fails alone at the end of a generator: writes beside it are done', async () => {
    await world.client.must(
      'insert',
      `{"namespace":"${namespace}","table":"people","rows":[{"name":"a","id":9223372036854775806}]}`,
    );
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        i % 4 === 0
          ? call('insert', 'people', { rows: [{ name: `n${i}` }] })
          : call('insert', 'seats', { rows: [{ row: 1, place: i }] }),
      ),
    );
    const outcomes = answers.map(outcome);
    expect(outcomes.filter((_, i) => i % 4 !== 0)).toEqual(Array(18).fill('200'));
    const atEnd = outcomes.filter((_, i) => i % 4 === 0);
    expect(atEnd.toSorted()).toEqual(['200', ...Array(5).fill('409 constraint_violation')]);
    expect(await must('count', 'seats', {})).toEqual({ count: 18 });
  });

  it('takes a thousand rows', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}` }));
    expect(await must('insert', 'people', { rows: many })).toMatchObject({ inserted: 1000 });
    expect(await must('count', 'people', {})).toEqual({ count: 1000 });
  });

  const stopped = async () => {
    const many = Array.from({ length: 999 }, (_, i) => ({ name: `n${i}` }));
    const repeating = [...many.slice(0, 500), { name: 'n0' }, ...many.slice(500)];
    expect(outcome(await call('insert', 'people', { rows: repeating }))).toBe('409 constraint_violation');
    return rows('people', { fields: ['name'] });
  };
  itDiffers('stoppedInsert', () => world.sidecar.capabilities, {
    can: async () => expect(await stopped()).toEqual([]),
    cannot: async () => expect(await stopped()).toEqual(Array.from({ length: 500 }, (_, i) => ({ name: `n${i}` }))),
  });
});

describe('update', () => {
  beforeEach(async () => {
    const people = [
      { name: 'a', level: 1 },
      { name: 'b' },
      { name: 'c', level: 2_147_483_000, score: 0.1, gold: '1.5' },
    ];
    await must('insert', 'people', { rows: people });
  });

  it('sets and adds exactly, NULL counting from 0, and counts the rows that matched', async () => {
    const change = {
      set: { rank: null },
      inc: { money: '0.0001', level: 5, score: 0.2, gold: '12345678901234567890.0001' },
    };
    expect(await must('update', 'people', { all: true, ...change })).toEqual({ affected: 3 });
    const found = await world.client.call('find', {
      namespace,
      table: 'people',
      fields: ['money', 'level', 'score', 'gold'],
    });
    expect(found.text).toContain('{"money":100.0001,"level":6,"score":0.2,"gold":12345678901234567890.0001}');
    expect(found.text).toContain('{"money":100.0001,"level":5,"score":0.2,"gold":12345678901234567890.0001}');
    expect(found.text).toContain(
      '{"money":100.0001,"level":2147483005,"score":0.30000000000000004,"gold":12345678901234567891.5001}',
    );
    expect(await must('update', 'people', { filter: named('a'), set: { level: 6 } })).toEqual({ affected: 1 });
    expect(await must('update', 'people', { filter: named('zz'), set: { level: 6 } })).toEqual({ affected: 0 });
  });

  it('refuses a result out of range and changes nothing, also in rows that could', async () => {
    const before = await rows('people');
    expect(outcome(await call('update', 'people', { all: true, inc: { level: 1000 } }))).toBe('400 invalid_value');
    expect(outcome(await call('update', 'people', { all: true, inc: { money: '99999999999999.9999' } }))).toBe(
      '400 invalid_value',
    );
    expect(
      outcome(await call('update', 'people', { all: true, inc: { gold: '999999999999999999999999999999.9999' } })),
    ).toBe('400 invalid_value');
    expect(outcome(await call('update', 'people', { all: true, set: { score: 1.7e308 } }))).toBe('200');
    expect(outcome(await call('update', 'people', { all: true, inc: { score: 1.7e308 } }))).toBe('400 invalid_value');
    expect((await rows('people')).map((row) => ({ ...row, score: 0 }))).toEqual(
      before.map((row) => ({ ...row, score: 0 })),
    );
  });

  it('checks only the result of an inc, not its amount', async () => {
    await must('update', 'people', { filter: named('a'), set: { level: -2_147_483_648 } });
    expect(await must('update', 'people', { filter: named('a'), inc: { level: 4_294_967_295 } })).toEqual({
      affected: 1,
    });
    expect(await rows('people', { filter: named('a'), fields: ['level'] })).toEqual([{ level: 2_147_483_647 }]);
    expect(await must('update', 'people', { filter: named('zz'), inc: { level: 4_294_967_295 } })).toEqual({
      affected: 0,
    });
  });

  it('a column inside a unique index counts as unique, whether or not the new values would repeat', async () => {
    const lots = {
      name: 'lots',
      columns: [
        { name: 'street', type: 'string' },
        { name: 'number', type: 'int32' },
      ],
      indexes: [{ name: 'by_place', columns: ['street', 'number'], unique: true }],
    };
    const place = { namespace: await declare(world.client, lots), table: 'lots' };
    const rows = [
      { street: 'a', number: 1 },
      { street: 'b', number: 1 },
    ];
    await world.client.must('insert', { ...place, rows });
    const change = { ...place, inc: { number: 1 } };
    expect(outcome(await world.client.call('update', { ...change, all: true }))).toBe('409 constraint_violation');
    expect(await rowsOf(world.client, place)).toEqual(rows);
    const filter = { field: 'street', op: 'eq', value: 'a' };
    expect(await world.client.must('update', { ...change, filter })).toEqual({ affected: 1 });
  });

  it('inc of a unique column must match at most one row', async () => {
    expect(outcome(await call('update', 'people', { all: true, inc: { rank: 1 } }))).toBe('409 constraint_violation');
    expect(await rows('people', { fields: ['rank'] })).toEqual([{ rank: null }, { rank: null }, { rank: null }]);
    expect(await must('update', 'people', { filter: named('a'), inc: { rank: 1 } })).toEqual({ affected: 1 });
    expect(outcome(await call('update', 'people', { filter: named('b'), inc: { rank: 1 } }))).toBe(
      '409 constraint_violation',
    );
  });

  it('deletes what matches, and no more', async () => {
    const filter = { not: { field: 'level', op: 'eq', value: 1 } };
    expect(await must('delete', 'people', { filter })).toEqual({ affected: 1 });
    expect((await rows('people')).map((row) => row.name)).toEqual(['a', 'b']);
    expect(await must('delete', 'people', { all: true })).toEqual({ affected: 2 });
  });
});

describe('upsert', () => {
  it('inserts, then changes only what the row holds; keys outside count at insertion only', async () => {
    expect(await must('upsert', 'people', { row: { name: 'a', level: 1 }, keys: ['name'] })).toEqual({ affected: 1 });
    expect(await must('upsert', 'people', { row: { name: 'a', id: 77, score: 2 }, keys: ['name'] })).toEqual({
      affected: 1,
    });
    const [row] = await rows('people');
    expect(row).toMatchObject({ id: 1, name: 'a', money: 100, level: 1, score: 2 });
    expect(await must('upsert', 'people', { row: { name: 'b', id: 77 }, keys: ['name'] })).toEqual({ affected: 1 });
    expect((await rows('people')).map((person) => person.id)).toEqual([1, 77]);
    expect(await must('upsert', 'people', { row: { name: 'a' }, keys: ['name'] })).toEqual({ affected: 1 });
    expect((await rows('people'))[0]).toEqual(row);
  });

  it('takes keys in any order, and refuses what collides with another unique index', async () => {
    await must('insert', 'seats', {
      rows: [
        { row: 1, place: 1, guest: 'x' },
        { row: 1, place: 2, guest: 'y' },
      ],
    });
    const same = { row: { row: 1, place: 1, guest: 'x' }, keys: ['place', 'row'] };
    expect(await must('upsert', 'seats', same)).toEqual({ affected: 1 });
    const before = await rows('seats');
    const taken = { row: { row: 1, place: 1, guest: 'y' }, keys: ['row', 'place'] };
    expect(outcome(await call('upsert', 'seats', taken))).toBe('409 constraint_violation');
    const fresh = { row: { row: 2, place: 1, guest: 'y' }, keys: ['row', 'place'] };
    expect(outcome(await call('upsert', 'seats', fresh))).toBe('409 constraint_violation');
    expect(await rows('seats')).toEqual(before);
  });

  it('many at once of one key never fail and never double', async () => {
    const upserts = Array.from({ length: 200 }, (_, i) =>
      call('upsert', 'people', { row: { name: 'one', level: i }, keys: ['name'] }),
    );
    expect(new Set((await Promise.all(upserts)).map(outcome))).toEqual(new Set(['200']));
    expect(await must('count', 'people', {})).toEqual({ count: 1 });
  });

  it('many incs at once are all counted', async () => {
    await must('insert', 'people', { rows: [{ name: 'a' }] });
    const incs = Array.from({ length: 300 }, () =>
      call('update', 'people', { filter: named('a'), inc: { money: '0.0001' } }),
    );
    await Promise.all(incs);
    expect(await rows('people', { fields: ['money'] })).toEqual([{ money: 100.03 }]);
  });
});
