import fc from 'fast-check';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row, TableTarget } from '#engine/rows.ts';
import { declare, filterOf, type MysqlWorld, openMysql, openWorld, rowsOf, within, write } from './world.ts';

const TABLES = `[
  {"name":"things","primaryKey":["id"],"columns":[
    {"name":"id","type":"int64","autoIncrement":true},
    {"name":"code","type":"string","length":500,"nullable":true,"unique":true},
    {"name":"n","type":"int64","nullable":true},
    {"name":"d","type":"decimal","precision":34,"scale":20,"nullable":true},
    {"name":"f","type":"float64","nullable":true},
    {"name":"body","type":"text","nullable":true},
    {"name":"at","type":"datetime","nullable":true},
    {"name":"raw","type":"bytes","nullable":true}]},
  {"name":"small","primaryKey":["id"],"columns":[{"name":"id","type":"int32","autoIncrement":true}]},
  {"name":"pairs","primaryKey":["name","at"],"columns":[{"name":"n","type":"int32","nullable":true},
    {"name":"name","type":"string"},{"name":"at","type":"datetime"}]},
  {"name":"keyless","columns":[{"name":"n","type":"int32"}]},
  {"name":"texts","columns":[${['a', 'b', 'c', 'd', 'e'].map((name) => `{"name":"${name}","type":"text","nullable":true}`).join(',')}]},
  {"name":"wide","columns":[${Array.from({ length: 100 }, (_, i) => `{"name":"c${i}","type":"int32"}`).join(',')}]}]`;

let world: MysqlWorld;
let targetOf: (name: string) => TableTarget;

beforeAll(async () => {
  world = await openWorld();
  targetOf = await declare(world.engine, TABLES);
});
afterAll(() => world.close());

const row = (values: Parameters<typeof Object.entries>[0]): Row => new Map(Object.entries(values));

async function insert(name: string, ...rows: Row[]): Promise<{ inserted: number; ids: number[] }> {
  return JSON.parse(await write(world.engine, targetOf(name), { op: 'insert', rows }));
}

async function found(name: string, filter: object, fields: string[]): Promise<string> {
  const target = targetOf(name);
  return rowsOf(world.engine, target, { filter: filterOf(target.table, JSON.stringify(filter)), fields });
}

describe('values', () => {
  it('doubles come back bit for bit, and are found again', async () => {
    const rows = async (f: number): Promise<void> => {
      const { ids } = await insert('things', row({ f }));
      const condition = {
        and: [
          { field: 'f', op: 'eq', value: f },
          { field: 'id', op: 'eq', value: ids[0] },
        ],
      };
      expect(JSON.parse(await found('things', condition, ['f']))).toEqual([{ f }]);
    };
    for (const f of [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 2 ** 53, 1 / 3]) await rows(f);
    const any = fc.double({ noNaN: true, noDefaultInfinity: true }).map((f) => (f === 0 ? 0 : f));
    await fc.assert(fc.asyncProperty(any, rows), { numRuns: 40 });
  });

  it('integers and decimals are compared digit for digit', async () => {
    const digits = '12345678901234.12345678901234567890';
    await insert(
      'things',
      row({ n: 9223372036854775806n, d: digits }),
      row({ n: 9223372036854775807n, d: `${digits.slice(0, -1)}1` }),
    );
    expect(await found('things', { field: 'n', op: 'gt', value: 9223372036854774000 }, ['n'])).toBe(
      '[{"n":9223372036854775806},{"n":9223372036854775807}]',
    );
    const target = targetOf('things');
    const filter = filterOf(target.table, '{"field":"n","op":"eq","value":9223372036854775806}');
    expect(await rowsOf(world.engine, target, { filter, fields: ['n'] })).toBe('[{"n":9223372036854775806}]');
    const above = filterOf(target.table, '{"field":"d","op":"gt","value":"12345678901234.1234567890123456789"}');
    expect(await rowsOf(world.engine, target, { filter: above, fields: ['d'] })).toBe(
      '[{"d":12345678901234.12345678901234567891}]',
    );
  });

  it('text counts by its bytes, trailing spaces and what lies far behind included', async () => {
    await insert('things', row({ code: 'a' }), row({ code: 'a ' }), row({ code: 'A' }), row({ code: 'ä' }));
    expect(await found('things', { field: 'code', op: 'in', value: ['a', 'ä'] }, ['code'])).toBe(
      '[{"code":"a"},{"code":"ä"}]',
    );
    const far = '😀'.repeat(400);
    await insert('things', row({ code: `${far}b`, n: 77n }), row({ code: `${far}a`, n: 77n }));
    const target = targetOf('things');
    const filter = filterOf(target.table, '{"field":"n","op":"eq","value":77}');
    const sorted = await rowsOf(world.engine, target, {
      filter,
      fields: ['code'],
      sort: [{ column: 'code', dir: 'asc' }],
    });
    expect(JSON.parse(sorted).map(({ code }: { code: string }) => code.at(-1))).toEqual(['a', 'b']);
  });

  it('long texts are sorted to their last character, also for a single row', async () => {
    const far = '€'.repeat(999_999);
    await insert(
      'things',
      row({ body: `${far}b`, n: 78n }),
      row({ body: `${far}c`, n: 78n }),
      row({ body: `${far}a`, n: 78n }),
    );
    const target = targetOf('things');
    const filter = filterOf(target.table, '{"field":"n","op":"eq","value":78}');
    const sort = [{ column: 'body', dir: 'desc' }] as const;
    const ids = async (limit: number) =>
      JSON.parse(await rowsOf(world.engine, target, { filter, fields: ['id'], sort, limit })).length;
    expect([await ids(0), await ids(1), await ids(1000)]).toEqual([0, 1, 3]);
    const first = await rowsOf(world.engine, target, { filter, fields: ['body'], sort, limit: 1 });
    expect(first.at(-4)).toBe('c');
    const three = [{ column: 'raw', dir: 'asc' }, ...sort, { column: 'code', dir: 'desc' }] as const;
    const last = await rowsOf(world.engine, target, { filter, fields: ['body'], sort: three, offset: 2 });
    expect(last.at(-4)).toBe('a');
  });

  it('bytes that are no text, and the first and last moments', async () => {
    const raw = Uint8Array.from({ length: 256 }, (_, i) => 255 - i);
    const { ids } = await insert(
      'things',
      row({ raw, at: '0001-01-01T00:00:00.001Z' }),
      row({ at: '9999-12-31T23:59:59.999Z' }),
    );
    const target = targetOf('things');
    const json = { field: 'at', op: 'lte', value: '0001-01-01T00:00:00.001Z' };
    const encoded = Buffer.from(raw).toString('base64');
    expect(await found('things', json, ['raw', 'at'])).toBe(`[{"raw":"${encoded}","at":"0001-01-01T00:00:00.001Z"}]`);
    expect(await found('things', { field: 'raw', op: 'eq', value: encoded }, ['id'])).toBe(`[{"id":${ids[0]}}]`);
    expect(await found('things', { field: 'at', op: 'gt', value: '9999-12-31T23:59:59.998Z' }, ['at'])).toBe(
      '[{"at":"9999-12-31T23:59:59.999Z"}]',
    );
    expect(await world.engine.count(target, null, within(5000))).toBeGreaterThan(2);
  });

  it('an inc reaches exactly the ends of its column, and refuses what lies behind', async () => {
    const { ids } = await insert('things', row({ n: -9223372036854775808n }));
    const target = targetOf('things');
    const filter = filterOf(target.table, `{"field":"id","op":"eq","value":${ids[0]}}`);
    const add = (amount: bigint) =>
      write(world.engine, target, { op: 'update', filter, set: new Map(), inc: new Map([['n', amount]]) });
    expect(await add(18446744073709551615n)).toBe('{"affected":1}');
    await expect(add(1n)).rejects.toMatchObject({ code: 'invalid_value' });
    expect(await rowsOf(world.engine, target, { filter, fields: ['n'] })).toBe('[{"n":9223372036854775807}]');
  });
});

describe('statements of any size', () => {
  it('more listed values than the protocol has parameters', async () => {
    const { ids } = await insert('things', row({ code: "it's \\ listed", f: 0.1 }));
    const target = targetOf('things');
    const texts = Array.from({ length: 1000 }, (_, i) => `x${i}`);
    const lists: object[] = Array.from({ length: 120 }, () => ({ field: 'code', op: 'in', value: texts }));
    const last = { field: 'code', op: 'in', value: [...texts.slice(1), "it's \\ listed"] };
    const floats = { field: 'f', op: 'in', value: [...texts.slice(1).map((_, i) => i + 0.5), 0.1] };
    const filter = filterOf(target.table, JSON.stringify({ or: [...lists, { and: [last, floats] }] }));
    expect(await rowsOf(world.engine, target, { filter, fields: ['id'] })).toBe(`[{"id":${ids[0]}}]`);
  });

  it('more values in one insert than the protocol has parameters: all or none', async () => {
    const target = targetOf('wide');
    const full = row(Object.fromEntries(target.table.columns.map(({ name }) => [name, 1])));
    const broken = new Map([...full, ['c7', null]]);
    const rows = Array.from({ length: 1000 }, () => full);
    await expect(write(world.engine, target, { op: 'insert', rows: [...rows, broken] })).rejects.toMatchObject({
      code: 'constraint_violation',
    });
    expect(await world.engine.count(target, null, within(5000))).toBe(0);
    expect(await write(world.engine, target, { op: 'insert', rows })).toBe('{"inserted":1000,"ids":[]}');
    expect(await world.engine.count(target, null, within(5000))).toBe(1000);
  });

  it('more bytes than the server takes at once: many rows go in several pieces, one row is refused', async () => {
    const target = targetOf('texts');
    const body = '😀'.repeat(1_000_000);
    const whole = (texts: number): Row =>
      row(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].slice(0, texts).map((name) => [name, body])));
    expect(await write(world.engine, target, { op: 'insert', rows: Array(6).fill(whole(1)) })).toBe(
      '{"inserted":6,"ids":[]}',
    );
    await expect(write(world.engine, target, { op: 'insert', rows: [whole(1), whole(5)] })).rejects.toMatchObject({
      code: 'value_too_long',
    });
    const all = { op: 'update', filter: null, set: whole(5), inc: new Map() } as const;
    await expect(write(world.engine, target, all)).rejects.toMatchObject({ code: 'value_too_long' });
    expect(await world.engine.count(target, null, within(5000))).toBe(6);
  });

  it('a page ends at its bytes, however much lies behind, and the connection goes on', async () => {
    const target = targetOf('things');
    const body = 'x'.repeat(900_000);
    await insert('things', ...Array.from({ length: 8 }, () => row({ body, n: 79n })));
    await insert('things', ...Array.from({ length: 8 }, () => row({ body, n: 79n })));
    await insert('things', ...Array.from({ length: 8 }, () => row({ body, n: 79n })));
    const filter = filterOf(target.table, '{"field":"n","op":"eq","value":79}');
    const query = { filter, fields: ['body'], sort: [], limit: 100, offset: 0, maxBytes: 2_000_000 };
    for (let round = 0; round < 5; round++) {
      const page = await world.engine.find(target, query, within(5000));
      expect([JSON.parse(page.rows).length, page.hasMore]).toEqual([2, true]);
    }
    const whole = await world.engine.find(target, { ...query, maxBytes: 1 }, within(5000));
    expect([JSON.parse(whole.rows).length, whole.hasMore]).toEqual([1, true]);
  });
});

describe('generated ids', () => {
  it('an explicit id moves the generator for the rows after it, zero and negative ones are ids', async () => {
    const id = (value: number): Row => row({ id: value });
    expect(await insert('small', row({}), id(50), row({}), id(0), id(-5), row({}))).toEqual({
      inserted: 6,
      ids: [1, 50, 51, 0, -5, 52],
    });
  });

  it('ends with 409 at the end of its column, again and again', async () => {
    await insert('small', row({ id: 2 ** 31 - 1 }));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(insert('small', row({}))).rejects.toMatchObject({ code: 'constraint_violation' });
    }
  });

  it('one that another node of a cluster has drawn at the same time is drawn again', async () => {
    const client = await createConnection({ uri: world.url, multipleStatements: true });
    const drawn = async (name: string, column: string, id: bigint) => {
      // The first three rows get an id that exists, as if another node had drawn it a moment ago.
      await client.query(`CREATE SEQUENCE ${name}_turns;
        CREATE TRIGGER ${name}_twice BEFORE INSERT ON game__${name} FOR EACH ROW
          IF NEXTVAL(${name}_turns) <= 3 THEN SET NEW.${column} = ${id}; END IF`);
    };
    const [first] = (await insert('things', row({ body: 'first' }))).ids;
    await drawn('things', 'id', BigInt(first ?? 0));
    const { ids } = await insert('things', row({ body: 'a' }), row({ body: 'b' }));
    expect(new Set([first, ...ids]).size).toBe(3);
    expect(JSON.parse(await found('things', { field: 'id', op: 'in', value: ids }, ['id', 'body']))).toEqual([
      { id: ids[0], body: 'a' },
      { id: ids[1], body: 'b' },
    ]);
    await insert('keyless', row({ n: 1 }));
    await drawn('keyless', '_id', 1n);
    await insert('keyless', row({ n: 2 }));
    expect(JSON.parse(await found('keyless', { field: 'n', op: 'in', value: [1, 2] }, ['n']))).toEqual([
      { n: 1 },
      { n: 2 },
    ]);
    await client.query('DROP TRIGGER things_twice; DROP TRIGGER keyless_twice');
    await client.end();
  });

  it('an upsert of a row that exists uses none up', async () => {
    const target = targetOf('things');
    const upsert = () =>
      write(world.engine, target, { op: 'upsert', row: row({ code: 'key', n: 1n }), keys: ['code'], update: ['n'] });
    await upsert();
    const [{ id }] = JSON.parse(await found('things', { field: 'code', op: 'eq', value: 'key' }, ['id']));
    for (let attempt = 0; attempt < 5; attempt++) expect(await upsert()).toBe('{"affected":1}');
    expect((await insert('things', row({}))).ids).toEqual([id + 1]);
  });
});

describe('upserts at the same time', () => {
  it('of a row that brings its id along, by another key: one row, none fails', async () => {
    const target = targetOf('things');
    const one = row({ id: 700_000, code: 'twins', n: 1n });
    const upsert = () => write(world.engine, target, { op: 'upsert', row: one, keys: ['code'], update: ['n'] });
    const answers = await Promise.all(Array.from({ length: 40 }, upsert));
    expect(new Set(answers)).toEqual(new Set(['{"affected":1}']));
    expect(await found('things', { field: 'code', op: 'eq', value: 'twins' }, ['id'])).toBe('[{"id":700000}]');
    const other = new Map([...one, ['code', 'another']]);
    const collision = write(world.engine, target, { op: 'upsert', row: other, keys: ['code'], update: ['n'] });
    await expect(collision).rejects.toMatchObject({
      code: 'constraint_violation',
      message: 'a row with this id already exists',
    });
  });
});

describe('a schema that has changed meanwhile', () => {
  it('refuses every call that was made for the old one, and changes nothing', async () => {
    for (const name of ['things', 'keyless']) {
      const target = { ...targetOf(name), revision: targetOf(name).revision + 1 };
      const before = await world.engine.count(targetOf(name), null, within(5000));
      const stale = { name: 'StaleSchemaError' };
      const values = row({ n: name === 'things' ? 1n : 1 });
      const all = { filter: null, set: values, inc: new Map() };
      await expect(rowsOf(world.engine, target)).rejects.toMatchObject(stale);
      await expect(rowsOf(world.engine, target, { offset: 10_000 })).rejects.toMatchObject(stale);
      await expect(world.engine.count(target, null, within(5000))).rejects.toMatchObject(stale);
      await expect(write(world.engine, target, { op: 'insert', rows: [values, values] })).rejects.toMatchObject(stale);
      await expect(write(world.engine, target, { op: 'update', ...all })).rejects.toMatchObject(stale);
      await expect(write(world.engine, target, { op: 'delete', filter: null })).rejects.toMatchObject(stale);
      expect(await world.engine.count(targetOf(name), null, within(5000))).toBe(before);
    }
    const pair = new Map([...row({ name: 'a', at: '2024-01-01T00:00:00.000Z', n: 1 })]);
    const pairs: Row[] = [pair, new Map([...pair, ['name', 'b']])];
    const late = { ...targetOf('pairs'), revision: 99 };
    for (const rows of [[pair], pairs]) {
      await expect(write(world.engine, late, { op: 'insert', rows })).rejects.toMatchObject({
        name: 'StaleSchemaError',
      });
      const numbered = rows.map(() => row({ id: 5_000_000 }));
      const things = { ...targetOf('things'), revision: 99 };
      await expect(write(world.engine, things, { op: 'insert', rows: numbered })).rejects.toMatchObject({
        name: 'StaleSchemaError',
      });
    }
    expect(await rowsOf(world.engine, targetOf('pairs'))).toBe('[]');
    await insert('pairs', ...pairs);
    expect(JSON.parse(await rowsOf(world.engine, targetOf('pairs')))).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    const target = { ...targetOf('things'), revision: 99 };
    const write1 = { op: 'upsert', row: row({ code: 'key' }), keys: ['code'] } as const;
    await expect(write(world.engine, target, { ...write1, update: ['n'] })).rejects.toMatchObject({
      name: 'StaleSchemaError',
    });
    await expect(write(world.engine, target, { ...write1, update: [] })).rejects.toMatchObject({
      name: 'StaleSchemaError',
    });
  });
});

describe('what stands in the way', () => {
  it('a row that somebody else holds: ended in time at the server too, and nothing is changed', async () => {
    const { ids } = await insert('things', row({ n: 80n }));
    const target = targetOf('things');
    const filter = filterOf(target.table, `{"field":"id","op":"eq","value":${ids[0]}}`);
    const other = await createConnection(world.url);
    try {
      await other.query('START TRANSACTION');
      await other.query('SELECT * FROM game__things WHERE id = ? FOR UPDATE', [ids[0]]);
      const change = { op: 'update', filter, set: row({ n: 81n }), inc: new Map() } as const;
      await expect(write(world.engine, target, change, 300)).rejects.toMatchObject({
        code: 'database_timeout',
        message: expect.stringContaining('changed nothing'),
      });
      const [rows] = await other.query(
        "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE 'UPDATE `game__things`%'",
      );
      expect(rows).toEqual([{ n: 0 }]);
    } finally {
      await other.query('ROLLBACK');
      await other.end();
    }
    expect(await rowsOf(world.engine, target, { filter, fields: ['n'] })).toBe('[{"n":80}]');
  });

  it('a collision names the columns and no value', async () => {
    await insert('things', row({ code: "for key 'PRIMARY'" }));
    const again = insert('things', row({ code: "for key 'PRIMARY'" }));
    await expect(again).rejects.toMatchObject({
      code: 'constraint_violation',
      message: 'a row with this code already exists',
    });
  });

  it('a database that does not exist is told in the log, without the password', async () => {
    const url = new URL(world.url);
    url.pathname = '/sidecar_nowhere';
    const log: { level: string; message: string; fields: object }[] = [];
    const engine = await openMysql(url.href, log as never);
    try {
      await expect(engine.ping(within(3000))).rejects.toMatchObject({ code: 'database_error' });
      expect(JSON.stringify(log)).toContain('the database does not exist');
      expect(JSON.stringify(log)).not.toContain(url.password);
    } finally {
      await engine.close();
    }
  });
});
