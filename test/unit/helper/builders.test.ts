import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ColumnTypeName, Q } from '#connector/helper/helper.ts';

const anyText = fc.string({ unit: 'binary' });

describe('filters', () => {
  it('carry any text as a value, and nothing of it leaks out of its place', () => {
    fc.assert(
      fc.property(anyText, anyText, (field, value) => {
        expect(JSON.parse(Q.Eq(field, value))).toEqual({ field, op: 'eq', value });
        expect(JSON.parse(Q.And(Q.Contains(field, value), Q.In(field, [value])))).toEqual({
          and: [
            { field, op: 'contains', value },
            { field, op: 'in', value: [value] },
          ],
        });
      }),
    );
  });

  it.each([
    [Q.Eq('a', 1), { field: 'a', op: 'eq', value: 1 }],
    [Q.Eq('a', null), { field: 'a', op: 'eq', value: null }],
    [Q.Ne('a', 'b'), { field: 'a', op: 'ne', value: 'b' }],
    [Q.Gt('a', 1.5), { field: 'a', op: 'gt', value: 1.5 }],
    [Q.Gte('a', 1), { field: 'a', op: 'gte', value: 1 }],
    [Q.Lt('a', 1), { field: 'a', op: 'lt', value: 1 }],
    [Q.Lte('a', true), { field: 'a', op: 'lte', value: true }],
    [Q.In('a', [1, 'x']), { field: 'a', op: 'in', value: [1, 'x'] }],
    [Q.NotIn('a', [1]), { field: 'a', op: 'nin', value: [1] }],
    [Q.IsNull('a'), { field: 'a', op: 'isNull', value: true }],
    [Q.IsNull('a', false), { field: 'a', op: 'isNull', value: false }],
    [Q.StartsWith('a', '%'), { field: 'a', op: 'startsWith', value: '%' }],
    [Q.Contains('a', "O'B"), { field: 'a', op: 'contains', value: "O'B" }],
    [Q.Not(Q.Eq('a', 1)), { not: { field: 'a', op: 'eq', value: 1 } }],
    [
      Q.Or([Q.Eq('a', 1), { field: 'b', op: 'isNull' }]),
      {
        or: [
          { field: 'a', op: 'eq', value: 1 },
          { field: 'b', op: 'isNull' },
        ],
      },
    ],
    [Q.And({ not: { field: 'a', op: 'isNull' } }), { and: [{ not: { field: 'a', op: 'isNull' } }] }],
    [Q.And(), { and: [] }],
    [Q.Lt('t', new Date(0)), { field: 't', op: 'lt', value: '1970-01-01T00:00:00.000Z' }],
    [Q.Eq('b', new Uint8Array([255, 254])), { field: 'b', op: 'eq', value: '//4=' }],
  ])('%s', (text, expected) => {
    expect(JSON.parse(text)).toEqual(expected);
  });

  it('keep every digit', () => {
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        expect(Q.Eq('id', value)).toBe(`{"field":"id","op":"eq","value":${value}}`);
      }),
    );
  });

  it('refuse what is no filter, and text that would leave its place', () => {
    for (const wrong of [
      'name = 3',
      '[]',
      '1',
      'null',
      '{},{}',
      '{"field":"a"},"all":true',
      7,
      null,
      ['a'],
      undefined,
    ]) {
      expect(() => Q.Not(wrong as never), String(wrong)).toThrow(TypeError);
      expect(() => Q.And(Q.Eq('a', 1), [wrong] as never), String(wrong)).toThrow('filter 2');
    }
  });

  it('refuse values that are none, and name the column', () => {
    expect(() => Q.Eq('owner_id', undefined as never)).toThrow(/Q\.Eq: owner_id: undefined/);
    expect(() => Q.Gt('fuel', Number.NaN)).toThrow(/fuel: NaN/);
    expect(() => Q.In('id', [1, Number.POSITIVE_INFINITY])).toThrow(/id\[1\]: Infinity/);
    expect(() => Q.In('id', 5 as never)).toThrow(/id: expected a list/);
    expect(() => Q.Eq(5 as never, 5)).toThrow(/name of a column/);
  });
});

describe('rows', () => {
  it('carry any JSON value', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.jsonValue()), (row) => {
        expect(JSON.parse(Q.Row(row))).toEqual(JSON.parse(JSON.stringify(row)));
      }),
    );
  });

  it('write big numbers digit for digit, times as ISO text, bytes as base64, and leave undefined out', () => {
    const row = {
      id: 9_007_199_254_740_993n,
      price: Q.Number('12345678901234567890.10'),
      at: new Date('2026-01-31T12:00:00.5Z'),
      photo: Buffer.from('hello'),
      view: new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
      buffer: new Uint8Array([9]).buffer,
      gone: undefined,
      nested: { list: [1n, undefined, null], own: { toJSON: () => 'said' }, gone: undefined },
    };
    expect(Q.Row(row)).toBe(
      '{"id":9007199254740993,"price":12345678901234567890.10,"at":"2026-01-31T12:00:00.500Z","photo":"aGVsbG8=",' +
        '"view":"AgM=","buffer":"CQ==","nested":{"list":[1,null,null],"own":"said"}}',
    );
  });

  it.each([
    ['a NaN', { stats: { speed: [1, Number.NaN] } }, 'stats.speed[1]: NaN'],
    ['a function', { onUse: () => {} }, 'onUse: a function'],
    ['a symbol', { tag: Symbol('x') }, 'tag: a symbol'],
    ['a Promise', { name: Promise.resolve('Zoe') }, 'is an await missing'],
    ['a Map', { items: new Map() }, 'items: a Map'],
    ['a Set', { items: new Set() }, 'items: a Set'],
    ['a time that is none', { at: new Date('tomorrow') }, 'at: a Date'],
  ])('refuse %s, and name the property', (_what, row, message) => {
    expect(() => Q.Row(row)).toThrow(TypeError);
    expect(() => Q.Row(row)).toThrow(message);
  });

  it('refuse what contains itself', () => {
    const ring: { own?: object } = {};
    ring.own = ring;
    expect(() => Q.Row(ring)).toThrow('contains itself');
  });

  it('refuse what is no object', () => {
    for (const wrong of [null, undefined, 'text', 5, [1]]) expect(() => Q.Row(wrong as never)).toThrow(TypeError);
  });
});

describe('Q.Number', () => {
  it('keeps the digits as they are given', () => {
    for (const digits of ['0', '-0.50', '123.45', '99999999999999999999999999999999.99', '1e5']) {
      expect(Q.Row({ n: Q.Number(digits) })).toBe(`{"n":${digits}}`);
      expect(String(Q.Number(digits))).toBe(digits);
    }
    expect(Q.Row({ n: Q.Number(5n) })).toBe('{"n":5}');
    expect(JSON.stringify({ n: Q.Number('1.50') })).toBe('{"n":1.50}');
  });

  it('refuses what is no number', () => {
    for (const wrong of ['', ' 1', '1,5', '.5', '1.', '+1', '01', '0x1', 'NaN', '1}', '1 2']) {
      expect(() => Q.Number(wrong), wrong).toThrow(TypeError);
    }
    expect(() => Q.Number(Number.NaN)).toThrow(TypeError);
    expect(() => Q.Number(undefined as never)).toThrow(TypeError);
  });
});

describe('Sort and Immediate', () => {
  it('say what they are told', () => {
    expect(JSON.parse(Q.Sort('money', 'desc'))).toEqual({ field: 'money', dir: 'desc' });
    expect(JSON.parse(Q.Sort('money'))).toEqual({ field: 'money', dir: 'asc' });
    expect(() => Q.Sort(undefined as never)).toThrow(TypeError);
  });

  it('add durability to a payload, digits kept, as text or object, once', () => {
    expect(Q.Immediate('{"rows":[{"id":9007199254740993}]}')).toBe(
      '{"rows":[{"id":9007199254740993}],"durability":"immediate"}',
    );
    expect(Q.Immediate(Q.Immediate({}))).toBe('{"durability":"immediate"}');
    expect(() => Q.Immediate('[]')).toThrow(TypeError);
  });
});

describe('schemas', () => {
  it('declare what the specification calls them', () => {
    const types: Record<string, ColumnTypeName> = {
      Int32: 'int32',
      Int64: 'int64',
      Text: 'string',
      LongText: 'text',
      Bool: 'bool',
      Decimal: 'decimal',
      Double: 'float64',
      Json: 'json',
      DateTime: 'datetime',
      Date: 'date',
      Uuid: 'uuid',
      Bytes: 'bytes',
    };
    for (const [builder, type] of Object.entries(types)) {
      const build = Q[builder as 'Json'];
      expect(JSON.parse(build('a'))).toEqual({ name: 'a', type });
      expect(JSON.parse(build('a', { nullable: true }))).toEqual({ name: 'a', type, nullable: true });
      expect(build('a')).toBe(Q.Column('a', type));
    }
  });

  it('put tables, columns and indexes together, from text and objects', () => {
    const schema = Q.Schema(
      Q.Table('cars', [Q.Int64('id', { autoIncrement: true }), { name: 'plate', type: 'string', length: 8 }], {
        primaryKey: ['id'],
        indexes: [Q.Index('by_plate', ['plate'], { unique: true }), { name: 'other', columns: ['id', 'plate'] }],
        renamedFrom: 'vehicles',
      }),
      { name: 'empty', columns: [Q.Bool('on', { default: false })] },
    );
    expect(JSON.parse(schema)).toEqual({
      tables: [
        {
          name: 'cars',
          primaryKey: ['id'],
          renamedFrom: 'vehicles',
          columns: [
            { name: 'id', type: 'int64', autoIncrement: true },
            { name: 'plate', type: 'string', length: 8 },
          ],
          indexes: [
            { name: 'by_plate', columns: ['plate'], unique: true },
            { name: 'other', columns: ['id', 'plate'] },
          ],
        },
        { name: 'empty', columns: [{ name: 'on', type: 'bool', default: false }] },
      ],
    });
    expect(Q.Schema()).toBe('{"tables":[]}');
    expect(Q.Schema([])).toBe('{"tables":[]}');
  });

  it('take every option, and defaults of every kind', () => {
    const column = Q.Column('n', 'decimal', {
      precision: 34,
      scale: 2,
      unique: true,
      nullable: true,
      renamedFrom: 'm',
      default: Q.Number('12345678901234567890.12'),
    });
    expect(column).toBe(
      '{"name":"n","type":"decimal","precision":34,"scale":2,"unique":true,"nullable":true,"renamedFrom":"m",' +
        '"default":12345678901234567890.12}',
    );
    expect(Q.Int64('n', { default: 9_007_199_254_740_993n })).toContain('"default":9007199254740993');
  });

  it('refuse what is none, and say where', () => {
    expect(() => Q.Table('t', 'columns' as never)).toThrow('Q.Table: t.columns: expected a list');
    expect(() => Q.Table('t', [5 as never])).toThrow('columns[0]');
    expect(() => Q.Schema('no json')).toThrow('tables[0]');
    expect(() => Q.Text('name', 60 as never)).toThrow('Q.Text: expected options');
    expect(() => Q.Int32(undefined as never)).toThrow('Q.Int32: expected a name');
  });

  it('carry any name and text', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, text) => {
        expect(JSON.parse(Q.Schema(Q.Table(name, [Q.Text(name, { default: text })])))).toEqual({
          tables: [{ name, columns: [{ name, type: 'string', default: text }] }],
        });
      }),
    );
  });
});
