import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Database, type DbResult } from '#connector/helper/helper.ts';
import { FakeServer } from './fake-server.ts';

const db = new Database(new FakeServer());

function ok(json: string): DbResult {
  return { Id: 'x', State: 'ok', Status: 200, Code: '', Json: json };
}

function rowsOf(json: string): unknown[] {
  return db.Rows(ok(`{"rows":${json},"hasMore":false}`));
}

describe('Rows', () => {
  it('gives what the native reader gives where that is exact', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (rows) => {
        const text = JSON.stringify(rows);
        fc.pre(!/\d{16}/.test(text));
        expect(rowsOf(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives integers past 2^53 as BigInt, whether or not a double holds them', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), (id) => {
        const isSafe = id <= 2n ** 53n && id >= -(2n ** 53n);
        expect(rowsOf(`[{"id":${id}}]`)).toEqual([{ id: isSafe ? Number(id) : id }]);
      }),
    );
    expect(rowsOf('[{"id":9007199254740992},{"id":9007199254740993},{"id":9007199254740994}]')).toEqual([
      { id: 9_007_199_254_740_992 },
      { id: 9_007_199_254_740_993n },
      { id: 9_007_199_254_740_994n },
    ]);
    expect(rowsOf('[{"id":-9007199254740994}]')).toEqual([{ id: -9_007_199_254_740_994n }]);
  });

  it('gives decimals that no double holds as text, and coordinates as numbers', () => {
    expect(rowsOf('[{"price":12345678901234.56789,"x":-1234.567890123456,"y":0.30000000000000004,"z":1.5}]')).toEqual([
      { price: '12345678901234.56789', x: -1234.567890123456, y: 0.30000000000000004, z: 1.5 },
    ]);
  });

  it('is not misled by digits and quotes inside of text', () => {
    const row = {
      license: 'license:9007199254740993',
      name: 'a \\" : 9007199254740993',
      at: '3e5',
      list: [',9007199254740993'],
    };
    expect(rowsOf(JSON.stringify([row]))).toEqual([row]);
    expect(rowsOf(JSON.stringify([row]).replace('}', ',"id":9007199254740993}'))).toEqual([
      { ...row, id: 9_007_199_254_740_993n },
    ]);
  });

  it('gives ordinary objects, that can be copied, printed and spread', () => {
    const [row] = rowsOf('[{"id":9007199254740993,"a":{"b":1}}]') as [object];
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  });

  it('gives nothing after an error', () => {
    const error: DbResult = { Id: '', State: 'error', Status: 404, Code: 'unknown_table', Json: '{"rows":[{}]}' };
    expect(db.Rows(error)).toEqual([]);
    expect(db.HasMore(error)).toBe(false);
    expect(db.Number(error)).toBe(0);
  });
});

describe('the other readers', () => {
  it('read their answers', () => {
    expect(db.HasMore(ok('{"rows":[],"hasMore":true}'))).toBe(true);
    expect(db.HasMore(ok('{"rows":[],"hasMore":false}'))).toBe(false);
    expect(db.Number(ok('{"count":12}'))).toBe(12);
    expect(db.Number(ok('{"affected":3}'))).toBe(3);
    expect(db.Number(ok('{"inserted":2,"ids":[7,8]}'))).toBe(2);
    expect(db.InsertedIds(ok('{"inserted":2,"ids":[7,9007199254740993,"a"]}'))).toEqual([
      7,
      9_007_199_254_740_993n,
      'a',
    ]);
    expect(db.IsQueued(ok('{"queued":true,"id":"1","pending":4}'))).toBe(true);
    expect(db.IsQueued(ok('{"affected":1}'))).toBe(false);
    expect(db.Number(ok('{"queued":true,"id":"1","pending":4}'))).toBe(0);
  });

  it('say what a flush did, and nothing of one that failed', () => {
    const flushed = { flushed: 7, deadLettered: 1, remaining: 2, halted: true, enabled: true };
    expect(db.Flushed(ok(JSON.stringify(flushed)))).toEqual(flushed);
    const nothing = { flushed: 0, deadLettered: 0, remaining: 0, halted: false, enabled: false };
    expect(db.Flushed({ ...ok(JSON.stringify(flushed)), State: 'error' })).toEqual(nothing);
    expect(db.Flushed(ok('{"flushed":"7","halted":1}'))).toEqual(nothing);
  });

  it('give code and message of an error, and nothing where there is none', () => {
    const result = { Id: '', State: 'error', Status: 404, Code: 'unknown_table', Json: '' } as const;
    expect(db.ErrorMessage({ ...result, Json: '{"error":{"code":"unknown_table","message":"no table x"}}' })).toBe(
      'unknown_table: no table x',
    );
    expect(db.ErrorMessage(result)).toBe('unknown_table');
    expect(db.ErrorMessage(ok('{}'))).toBe('');
  });

  it('bear answers that are none', () => {
    for (const json of ['', 'no', '5', 'null', '[]', '{"rows":5,"ids":5,"count":"x"}']) {
      expect(db.Rows(ok(json))).toEqual([]);
      expect(db.InsertedIds(ok(json))).toEqual([]);
      expect(db.Number(ok(json))).toBe(0);
    }
  });
});

describe('a result that was read', () => {
  it('looks as before, and is read the same again, frozen or copied too', () => {
    const result = ok('{"rows":[{"id":1}],"hasMore":true}');
    const before = JSON.stringify(result);
    const rows = db.Rows(result);
    expect(db.Rows(result)).toBe(rows);
    expect([JSON.stringify(result), Object.keys(result).length]).toEqual([before, 5]);
    for (const other of [Object.freeze({ ...result }), structuredClone(result)]) {
      expect([db.Rows(other), db.HasMore(other)]).toEqual([[{ id: 1 }], true]);
    }
  });
});
