import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '#protocol/canonical-json.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseJson, writeJson } from '#protocol/json.ts';
import { columnOf, parseSchema, schemaHash, schemaToJson } from '#protocol/schema.ts';

const read = (json: unknown) => parseSchema(parseJson(JSON.stringify(json)));

function refusal(json: unknown): string {
  try {
    read(json);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

const id = { name: 'id', type: 'int64' };
const table = (more: object, columns: readonly object[] = [id]) => ({ tables: [{ name: 't', columns, ...more }] });
const column = (more: object) => table({}, [{ name: 'c', type: 'int32', ...more }]);
const many = (count: number, more: object) => Array.from({ length: count }, (_, i) => ({ name: `c${i}`, ...more }));

describe('refusals name the column', () => {
  test.each<[string, unknown, string]>([
    ['no object', [], 'invalid_schema schema: expected an object, got an array'],
    ['no tables', {}, 'invalid_schema schema.tables: expected an array, got nothing'],
    ['table no object', { tables: [5] }, 'invalid_schema schema.tables[0]: expected an object, got a number'],
    ['table name', table({ name: 'a__b' }), 'invalid_identifier schema.tables[0].name'],
    ['table name too long', table({ name: 'a'.repeat(37) }), 'invalid_identifier schema.tables[0].name'],
    ['table name no text', table({ name: 5 }), 'invalid_schema schema.tables[0].name: expected a name, got a number'],
    ['column name', column({ name: 'Name' }), 'invalid_identifier schema.tables[0].columns[0].name'],
    ['column name too long', column({ name: 'a'.repeat(49) }), 'invalid_identifier schema.tables[0].columns[0].name'],
    [
      'type',
      column({ type: 'uint8' }),
      'invalid_schema schema.tables[0].columns[0].type: expected one of int32, int64',
    ],
    ['type of the prototype', column({ type: 'constructor' }), 'invalid_schema schema.tables[0].columns[0].type'],
    ['no columns', table({}, []), 'invalid_schema schema.tables[0].columns: expected 1 to 200 columns, got 0'],
    ['columns left out', { tables: [{ name: 't' }] }, 'invalid_schema schema.tables[0].columns: expected an array'],
    [
      'two tables',
      { tables: [table({}).tables[0], table({}).tables[0]] },
      'invalid_schema schema.tables[1].name: t stands',
    ],
    [
      'too many tables',
      { tables: Array.from({ length: 1001 }, (_, i) => ({ ...table({}).tables[0], name: `t${i}` })) },
      'invalid_schema schema.tables: expected at most 1000 tables, got 1001',
    ],
    ['two columns', table({}, [id, id]), 'invalid_schema schema.tables[0].columns[1].name: id stands twice'],
    ['length on int32', column({ length: 5 }), 'invalid_schema schema.tables[0].columns[0].length: int32 has none'],
    ['length on text', column({ type: 'text', length: 5 }), 'invalid_schema schema.tables[0].columns[0].length'],
    [
      'precision on float64',
      column({ type: 'float64', precision: 5 }),
      'invalid_schema schema.tables[0].columns[0].prec',
    ],
    ['scale on string', column({ type: 'string', scale: 5 }), 'invalid_schema schema.tables[0].columns[0].scale'],
    ['length 0', column({ type: 'string', length: 0 }), 'length: expected 1 to 4000, got 0'],
    ['length 5000', column({ type: 'string', length: 5000 }), 'length: expected 1 to 4000, got 5000'],
    ['length fraction', column({ type: 'string', length: 1.5 }), 'length: expected 1 to 4000, got 1.5'],
    ['length text', column({ type: 'string', length: '5' }), 'length: expected 1 to 4000, got a string'],
    ['precision 35', column({ type: 'decimal', precision: 35 }), 'precision: expected 1 to 34, got 35'],
    ['scale above precision', column({ type: 'decimal', precision: 3, scale: 4 }), 'scale: expected 0 to 3, got 4'],
    ['nullable', column({ nullable: 1 }), 'columns[0].nullable: expected true or false, got a number'],
    ['empty key', table({ primaryKey: [] }), 'primaryKey: expected 1 to 16 columns, got 0'],
    ['key no array', table({ primaryKey: 'id' }), 'primaryKey: expected an array, got a string'],
    ['key unknown', table({ primaryKey: ['x'] }), 'primaryKey[0]: no column of that name'],
    ['key twice', table({ primaryKey: ['id', 'id'] }), 'primaryKey[1]: column id stands twice'],
    ['key nullable', table({ primaryKey: ['id'] }, [{ ...id, nullable: true }]), 'primaryKey[0]: key column id must'],
    [
      'key of json',
      table({ primaryKey: ['id'] }, [{ name: 'id', type: 'json' }]),
      'primaryKey[0]: column id of type json',
    ],
    ['unique text', column({ type: 'text', unique: true }), 'columns[0].unique: a column of type text'],
    ['unique string too wide', column({ type: 'string', length: 651, unique: true }), 'got 2604'],
    [
      'autoIncrement on uuid',
      table({ primaryKey: ['id'] }, [{ name: 'id', type: 'uuid', autoIncrement: true }]),
      'expected a column of type int32',
    ],
    [
      'autoIncrement outside of the key',
      column({ autoIncrement: true }),
      'columns[0].autoIncrement: expected a column that is',
    ],
    [
      'autoIncrement in half of the key',
      table({ primaryKey: ['id', 'b'] }, [
        { ...id, autoIncrement: true },
        { name: 'b', type: 'int32' },
      ]),
      'autoIncrement: expected a column that is the whole',
    ],
    [
      'autoIncrement with default',
      table({ primaryKey: ['id'] }, [{ ...id, autoIncrement: true, default: 1 }]),
      'default: an autoIncrement',
    ],
    [
      'default of another type',
      column({ default: 'x' }),
      'invalid_schema schema.tables[0].columns[0].default: expected an integer',
    ],
    [
      'default too long',
      column({ type: 'string', length: 2, default: 'abc' }),
      'invalid_schema schema.tables[0].columns[0].default',
    ],
    ['now on uuid', column({ type: 'uuid', default: 'now' }), 'invalid_schema schema.tables[0].columns[0].default'],
    [
      'random on datetime',
      column({ type: 'datetime', default: 'random' }),
      'invalid_schema schema.tables[0].columns[0].default',
    ],
    ['now on int32', column({ default: 'now' }), 'invalid_schema schema.tables[0].columns[0].default'],
    [
      'index name',
      table({ indexes: [{ name: 'By', columns: ['id'] }] }),
      'invalid_schema schema.tables[0].indexes[0].name',
    ],
    [
      'index twice',
      table({
        indexes: [
          { name: 'i', columns: ['id'] },
          { name: 'i', columns: ['id'] },
        ],
      }),
      'indexes[1].name: i stands',
    ],
    ['index without columns', table({ indexes: [{ name: 'i', columns: [] }] }), 'indexes[0].columns: expected 1 to 16'],
    ['index unknown column', table({ indexes: [{ name: 'i', columns: ['x'] }] }), 'indexes[0].columns[0]: no column'],
    [
      'index of bytes',
      table({ indexes: [{ name: 'i', columns: ['c'] }] }, [{ name: 'c', type: 'bytes' }]),
      'cannot be indexed',
    ],
    [
      'index of 17 columns',
      table({ indexes: [{ name: 'i', columns: many(17, {}).map((c) => c.name) }] }, many(17, { type: 'bool' })),
      'expected 1 to 16 columns, got 17',
    ],
    [
      'index too wide',
      table({ indexes: [{ name: 'i', columns: ['a', 'b'] }] }, [
        { name: 'a', type: 'string', length: 646 },
        { name: 'b', type: 'decimal' },
      ]),
      'expected at most 2600 bytes in an index at 4 a character, got 2604',
    ],
    ['too many indexes', table({ indexes: many(33, { columns: ['id'] }) }), 'expected at most 32 indexes, got 33'],
    [
      'too many unique',
      table({ indexes: many(3, { columns: ['c0'] }) }, many(60, { type: 'int32', unique: true })),
      'at most 62 with the unique columns, got 63',
    ],
    ['too many columns', table({}, many(201, { type: 'bool' })), 'expected 1 to 200 columns, got 201'],
    [
      'too wide',
      table({}, many(16, { type: 'string', length: 1000 })),
      'at most 60000 bytes in all at 4 a character, got 64000',
    ],
    ['renamed from itself', column({ renamedFrom: 'c' }), 'columns[0].renamedFrom: the own name'],
    [
      'renamed from one still declared',
      table({}, [id, { name: 'b', type: 'bool', renamedFrom: 'id' }]),
      'id is still declared',
    ],
    [
      'a chain',
      table({}, [
        { ...id, renamedFrom: 'x' },
        { name: 'b', type: 'bool', renamedFrom: 'id' },
      ]),
      'id is still declared',
    ],
    [
      'a swap',
      table({}, [
        { ...id, renamedFrom: 'b' },
        { name: 'b', type: 'bool', renamedFrom: 'id' },
      ]),
      'still declared',
    ],
    [
      'two from one',
      table({}, [
        { ...id, renamedFrom: 'x' },
        { name: 'b', type: 'bool', renamedFrom: 'x' },
      ]),
      'two are renamed from x',
    ],
    [
      'renamed from no name',
      column({ renamedFrom: 'A' }),
      'invalid_identifier schema.tables[0].columns[0].renamedFrom',
    ],
    ['table renamed from itself', table({ renamedFrom: 't' }), 'tables[0].renamedFrom: the own name'],
  ])('%s', (_name, json, expected) => {
    expect(refusal(json)).toContain(expected);
    expect(refusal(json)).toMatch(/^invalid_(schema|identifier) schema/);
  });
});

test('the limits themselves are allowed', () => {
  const widest = table({ indexes: many(32, { columns: ['c0', 'c1'] }) }, many(30, { type: 'int32', unique: true }));
  for (const json of [
    { tables: [] },
    table({}, many(200, { type: 'bool' })),
    table({}, many(15, { type: 'string', length: 1000 })),
    table({ indexes: [{ name: 'i', columns: ['a', 'b'] }] }, [
      { name: 'a', type: 'string', length: 645 },
      { name: 'b', type: 'decimal' },
    ]),
    column({ type: 'string', length: 650, unique: true }),
    widest,
    table({ name: 'a'.repeat(36) }),
    column({ name: 'a'.repeat(48) }),
    table({ primaryKey: ['id'], indexes: [{ name: 'same_as_key', columns: ['id'], unique: true }] }),
  ]) {
    expect(refusal(json)).toBe('accepted');
  }
});

test('null means left out', () => {
  const nothing = {
    length: null,
    precision: null,
    scale: null,
    nullable: null,
    default: null,
    unique: null,
    renamedFrom: null,
  };
  const one = read(table({ primaryKey: null, indexes: null, renamedFrom: null }, [{ ...id, ...nothing }]));
  expect(one.schema).toEqual(read(table({})).schema);
  expect(one.warnings).toEqual([]);
  expect(one.renames.tables.size + one.renames.columns.size).toBe(0);
});

test('renames are told apart from the schema, and unknown properties named', () => {
  const json = {
    tables: [
      {
        name: 'new',
        renamedFrom: 'old',
        comment: 1,
        columns: [{ ...id, renamedFrom: 'key', size: 1 }],
        indexes: [{ name: 'i', columns: ['id'], where: 1 }],
      },
    ],
    version: 2,
  };
  const { renames, warnings, schema } = read(json);
  expect([...renames.tables]).toEqual([['new', 'old']]);
  expect([...(renames.columns.get('new') ?? [])]).toEqual([['id', 'key']]);
  expect(JSON.stringify(schemaToJson(schema))).not.toContain('old');
  expect(warnings.map((line) => line.split(':')[0])).toEqual([
    'schema.version',
    'schema.tables[0].comment',
    'schema.tables[0].columns[0].size',
    'schema.tables[0].indexes[0].where',
  ]);
});

test('a hostile declaration gets no hostile answer', () => {
  const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'x'.repeat(2000)}${i}`, 1]));
  const { warnings } = read(table(unknown));
  expect(warnings).toHaveLength(101);
  expect(Math.max(...warnings.map((line) => line.length))).toBeLessThan(200);
  expect(refusal(table({ primaryKey: ['id'] }, [{ ...id, name: 'y'.repeat(5000) }])).length).toBeLessThan(1100);
});

test('an unknown column is named, also one of the prototype', () => {
  const [things] = read(table({})).schema.tables;
  if (things === undefined) throw new Error('no table');
  expect(columnOf(things, 'id', 'set.id').type).toBe('int64');
  for (const name of ['x', 'constructor']) {
    expect(() => columnOf(things, name, `set.${name}`)).toThrow(expect.objectContaining({ code: 'unknown_column' }));
  }
});

const name = fc.constantFrom('a', 'b', 'c', 'd', 'a1', 'a_1', 'ab', 'z9');
const sized = fc.oneof(
  fc.record({ type: fc.constant('string'), length: fc.option(fc.integer({ min: 1, max: 600 })) }),
  fc.record({ type: fc.constant('string'), default: fc.constantFrom('x', '', 'é🚗') }),
  fc.record({ type: fc.constant('decimal'), precision: fc.integer({ min: 4, max: 34 }), scale: fc.constant(null) }),
  fc.record({ type: fc.constantFrom('int32', 'int64'), default: fc.option(fc.integer({ min: -9, max: 9 })) }),
  fc.record({
    type: fc.constantFrom('float64', 'bool', 'uuid', 'date', 'datetime'),
    nullable: fc.option(fc.boolean()),
  }),
);
const declaredTable = fc
  .record({
    name,
    columns: fc.uniqueArray(fc.tuple(name, sized), { minLength: 1, maxLength: 5, selector: ([n]) => n }),
    indexNames: fc.uniqueArray(name, { maxLength: 4 }),
  })
  .map(({ name, columns, indexNames }) => ({
    name,
    columns: columns.map(([columnName, more]) => ({ name: columnName, ...more })),
    indexes: indexNames.map((indexName) => ({ name: indexName, columns: [columns[0]?.[0]], unique: false })),
  }));
const declared = fc.uniqueArray(declaredTable, { maxLength: 4, selector: (item) => item.name });

describe('the hash', () => {
  test('does not depend on the order of tables, indexes and properties, nor on defaults being written out', () => {
    fc.assert(
      fc.property(declared, (tables) => {
        const reversed = tables.toReversed().map((item) => ({
          indexes: item.indexes.toReversed().map(({ unique: _unique, ...index }) => index),
          columns: item.columns.map((each) => ({
            unique: false,
            autoIncrement: null,
            ...each,
            renamedFrom: `before${each.name}`,
          })),
          primaryKey: null,
          name: item.name,
        }));
        expect(schemaHash(read({ tables: reversed }).schema)).toBe(schemaHash(read({ tables }).schema));
      }),
    );
  });

  test('comes to the same from the normalised form, which is its own normal form', () => {
    fc.assert(
      fc.property(declared, (tables) => {
        const { schema } = read({ tables });
        const again = parseSchema(parseJson(writeJson(schemaToJson(schema))));
        expect(again.schema).toEqual(schema);
        expect(again.warnings).toEqual([]);
        expect(schemaHash(again.schema)).toBe(schemaHash(schema));
      }),
    );
  });

  test('differs with the order of columns and with every property', () => {
    const base = table({ primaryKey: ['id'] }, [id, { name: 's', type: 'string' }]);
    const others = [
      table({ primaryKey: ['id'] }, [{ name: 's', type: 'string' }, id]),
      table({}, [id, { name: 's', type: 'string' }]),
      table({ primaryKey: ['id'] }, [id, { name: 's', type: 'string', length: 254 }]),
      table({ primaryKey: ['id'] }, [id, { name: 's', type: 'string', nullable: true }]),
      table({ primaryKey: ['id'] }, [id, { name: 's', type: 'string', unique: true }]),
      table({ primaryKey: ['id'] }, [id, { name: 's', type: 'string', default: '' }]),
      table({ primaryKey: ['id'] }, [
        { ...id, autoIncrement: true },
        { name: 's', type: 'string' },
      ]),
      table({ primaryKey: ['id'], indexes: [{ name: 'i', columns: ['s'] }] }, [id, { name: 's', type: 'string' }]),
      table({ primaryKey: ['id'], indexes: [{ name: 'i', columns: ['s'], unique: true }] }, [
        id,
        { name: 's', type: 'string' },
      ]),
    ];
    const hashes = [base, ...others].map((json) => schemaHash(read(json).schema));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
  });

  test('a default keeps every digit', () => {
    const text = '{"tables":[{"name":"t","columns":[{"name":"c","type":"int64","default":9223372036854775807}]}]}';
    const { schema } = parseSchema(parseJson(text));
    expect(canonicalJson(schemaToJson(schema))).toContain('"default":9223372036854775807');
  });
});
