import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isColumn, isTable } from '#protocol/identifiers.ts';
import { newNames } from '#sidecar/importing/new-names.ts';
import type { Proposal } from '#sidecar/importing/proposal.ts';
import { propose } from '#sidecar/importing/propose.ts';
import type { ColumnFacts, SourceColumn, SourceDatabase, SourceIndex, SourceTable } from '#sidecar/importing/source.ts';

const FACTS: ColumnFacts = {
  ...{ values: 5, maxChars: 10, notBool: 0, beyondInt64: 0, zeroDates: 0, jsonTexts: 0, distinct: 5, distinctBytes: 5 },
};

function column(name: string, columnType: string, changes: Partial<SourceColumn> = {}): SourceColumn {
  const [, dataType = '', size] = /^(\w+)(?:\((\d+))?/.exec(columnType) ?? [];
  return {
    ...{ name, dataType, columnType, isNullable: false, default: { kind: 'none' }, isAutoIncrement: false },
    ...{ isGenerated: false, hasOnUpdateNow: false, length: size === undefined ? null : Number(size) },
    ...{ precision: null, scale: null, fractionDigits: 0, isDeclaredJson: false },
    collation: /char|text|enum|set/.test(dataType) ? 'utf8mb4_general_ci' : null,
    ...changes,
  };
}

function index(name: string, columns: string[], changes: Partial<SourceIndex> = {}): SourceIndex {
  return { name, columns, prefixed: [], isUnique: name === 'PRIMARY', isOrdered: true, ...changes };
}

function proposed(
  columns: readonly SourceColumn[],
  indexes: readonly SourceIndex[] = [],
  facts: Readonly<Record<string, Partial<ColumnFacts>>> = {},
): Proposal & { texts: string[] } {
  const table: SourceTable = { name: 't', columns, indexes, nextId: null, checks: [] };
  const database: SourceDatabase = {
    ...{ name: 'd', version: '8.0', isMariaDb: false, timeZone: 'UTC', isStrict: true, tables: [table] },
    ...{ views: [], triggers: [], foreignKeys: [], routines: [] },
  };
  const ofColumns = new Map(columns.map(({ name }) => [name, { ...FACTS, ...facts[name] }]));
  const proposal = propose(database, [table], new Map([['t', { rows: 5, columns: ofColumns }]]));
  return { ...proposal, texts: proposal.notes.map(({ text }) => text) };
}

describe('new names', () => {
  it('obey the rule, are different, and stay where they obey it already', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), fc.constantFrom('table', 'column'), (names, kind) => {
        const fresh = newNames(kind, names);
        const obeys = kind === 'table' ? isTable : isColumn;
        expect([...fresh.keys()]).toEqual(names);
        expect(new Set(fresh.values()).size).toBe(names.length);
        for (const [old, name] of fresh) {
          expect(obeys(name), `${old} became ${name}`).toBe(true);
          if (obeys(old)) expect(name).toBe(old);
        }
      }),
    );
  });

  it.each([
    ['steamID64', 'steam_id64'],
    ['ownerName', 'owner_name'],
    ['Owner Name', 'owner_name'],
    ['__index', 'index'],
    ['1st', 'column_1st'],
    ['größe', 'gro_e'],
    ['MDT-Reports', 'mdt_reports'],
  ])('%s becomes %s', (old, name) => {
    expect(newNames('column', [old]).get(old)).toBe(name);
  });

  it('give way to a name that is there', () => {
    expect(Object.fromEntries(newNames('column', ['ownerId', 'owner_id', 'OwnerID']))).toEqual({
      ownerId: 'owner_id_2',
      owner_id: 'owner_id',
      OwnerID: 'owner_id_3',
    });
  });
});

describe('a proposed column', () => {
  it.each([
    ['tinyint(1)', {}, { type: 'bool' }],
    ['tinyint(1)', { notBool: 2 }, { type: 'int32' }],
    ['int(10) unsigned', {}, { type: 'int64' }],
    ['smallint(5) unsigned', {}, { type: 'int32' }],
    ['bigint(20) unsigned', {}, { type: 'int64' }],
    ['bigint(20) unsigned', { beyondInt64: 1 }, { type: 'decimal', precision: 20, scale: 0 }],
    ['varchar(50)', {}, { type: 'string', length: 50 }],
    ['varchar(50)', { jsonTexts: 5 }, { type: 'json' }],
    ['varchar(5000)', {}, { type: 'text' }],
    ['longtext', { jsonTexts: 4 }, { type: 'text' }],
    ['longtext', { values: 0 }, { type: 'text' }],
    ["enum('one','it''s','three and more words')", {}, { type: 'string', length: 20 }],
    ['varbinary(16)', {}, { type: 'bytes' }],
    ['point', {}, { type: 'text' }],
    ['inet6', {}, { type: 'string', length: 64 }],
    ['year(4)', {}, { type: 'int32' }],
  ] as const)('of %s with %j', (type, facts, declared) => {
    const { declared: json } = proposed([column('c', type)], [], { c: facts });
    expect(json).toEqual({ tables: [{ name: 't', columns: [{ name: 'c', ...declared }] }] });
  });

  it('is nullable where it holds zero dates, and says what a default has become', () => {
    const now = column('made', 'datetime', { default: { kind: 'now' }, hasOnUpdateNow: true });
    const zero = column('born', 'date', { default: { kind: 'constant', text: '0000-00-00' } });
    const odd = column('n', 'int', { default: { kind: 'expression', text: '(1 + 1)' } });
    const { declared, texts } = proposed([now, zero, odd], [], { born: { zeroDates: 3 } });
    expect(declared.tables).toEqual([
      {
        name: 't',
        columns: [
          { name: 'made', type: 'datetime', default: 'now' },
          { name: 'born', type: 'date', nullable: true },
          { name: 'n', type: 'int32' },
        ],
      },
    ]);
    expect(texts).toContain('3 zero dates (0000-00-00, or without month or day): NULL');
    expect(texts).toContain('its default (1 + 1) cannot be declared: left out');
  });
});

describe('proposed keys and indexes', () => {
  it('make a counter the key, and keep the old key unique', () => {
    const columns = [column('id', 'int', { isAutoIncrement: true }), column('citizenid', 'varchar(50)')];
    const { schema } = proposed(columns, [index('PRIMARY', ['citizenid']), index('id', ['id'])]);
    expect(schema.tables[0]).toMatchObject({ primaryKey: ['id'], indexes: [] });
    expect(schema.tables[0]?.columns).toMatchObject([{ autoIncrement: true }, { unique: true }]);
  });

  it('leave a counter alone whose numbers stand twice', () => {
    const columns = [column('id', 'int', { isAutoIncrement: true }), column('citizenid', 'varchar(50)')];
    const { schema, texts } = proposed(columns, [index('PRIMARY', ['citizenid'])], { id: { distinct: 4 } });
    expect(schema.tables[0]).toMatchObject({ primaryKey: ['citizenid'] });
    expect(schema.tables[0]?.columns).toMatchObject([{ autoIncrement: false, nullable: true }, {}]);
    expect(texts).toContain('AUTO_INCREMENT, but not the primary key and not unique: nothing numbers new rows');
  });

  it('count the whole value where MySQL counted a part, and leave out what is too wide', () => {
    const columns = [
      column('a', 'text'),
      column('b', 'varchar(255)'),
      column('c', 'varchar(255)'),
      column('d', 'varchar(255)'),
    ];
    const { schema, texts } = proposed(columns, [
      index('PRIMARY', ['a'], { prefixed: ['a'] }),
      index('wide', ['b', 'c', 'd']),
      index('search', ['b'], { isOrdered: false }),
    ]);
    expect(schema.tables[0]).toMatchObject({ primaryKey: ['a'], indexes: [] });
    expect(schema.tables[0]?.columns[0]).toMatchObject({ type: 'string', length: 64 });
    expect(texts).toContain('the primary key counts the first characters of a: the whole value counts here');
    expect(texts).toContain('index wide: 3060 bytes wide, of 2600 that every engine carries: left out');
    expect(texts).toContain('index search: a search or expression index, left out');
  });

  it('leave out a text that is longer than a key can be, and keep its column', () => {
    const columns = [column('a', 'text'), column('b', 'varchar(9000)')];
    const indexes = [index('body', ['a'], { isUnique: true, prefixed: ['a'] }), index('b', ['b'], { prefixed: ['b'] })];
    const long = { maxChars: 5000 };
    const { schema, texts } = proposed(columns, indexes, { a: long, b: long });
    expect(schema.tables[0]).toMatchObject({
      indexes: [],
      columns: [{ type: 'text', unique: false }, { type: 'text' }],
    });
    expect(texts).toContain('the unique a: a is too long for an index: left out');
    expect(texts).toContain('index b: b is too long for an index: left out');
  });

  it('make no counter of what does not count here', () => {
    const counter = { isAutoIncrement: true };
    const few = proposed([column('id', 'tinyint(1)', counter)], [index('PRIMARY', ['id'])]);
    expect(few.schema.tables[0]?.columns).toMatchObject([{ type: 'int32', autoIncrement: true }]);
    const facts = { id: { beyondInt64: 1 } };
    const big = proposed([column('id', 'bigint(20) unsigned', counter)], [index('PRIMARY', ['id'])], facts);
    expect(big.schema.tables[0]).toMatchObject({
      primaryKey: ['id'],
      columns: [{ type: 'decimal', autoIncrement: false }],
    });
    expect(big.texts).toContain('AUTO_INCREMENT, which counts no decimal here: nothing numbers new rows');
  });

  it('take names that every object of JavaScript has', () => {
    const { schema, plans } = proposed([column('constructor', 'int'), column('toString', 'int')]);
    expect(schema.tables[0]?.columns.map(({ name }) => name)).toEqual(['constructor', 'to_string']);
    expect(plans[0]?.columns.map(({ column: { name } }) => name)).toEqual(['constructor', 'to_string']);
  });

  it('shorten a row that is too wide, but no column of a key', () => {
    const wide = Array.from({ length: 6 }, (_, i) => column(`w${i}`, 'varchar(3000)'));
    const { schema, texts } = proposed([column('id', 'varchar(60)'), ...wide], [index('PRIMARY', ['id'])]);
    const types = schema.tables[0]?.columns.map(({ type }) => type);
    expect(types?.filter((type) => type === 'text')).toHaveLength(2);
    expect(types?.[0]).toBe('string');
    expect(texts).toContain('w0: text without a length, because the row would be too wide');
  });
});
