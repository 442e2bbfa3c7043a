import { describe, expect, it } from 'vitest';
import { parseSchema } from '#protocol/schema.ts';
import { planSchema, type RemovedMode } from '#sidecar/schema/plan.ts';
import { COLUMN_TYPES } from '../../support/model/types.ts';

type Declared = Parameters<typeof parseSchema>[0];

function plan(stored: unknown, declared: unknown, removed: RemovedMode = 'quarantine') {
  const from = stored === null ? null : parseSchema({ tables: stored } as unknown as Declared).schema;
  const { schema, renames } = parseSchema({ tables: declared } as unknown as Declared);
  return planSchema(from, schema, renames, removed);
}

/** `kind table.column>newName [index] !` with `!` for destructive. */
function brief(stored: unknown, declared: unknown, removed?: RemovedMode): string[] {
  return plan(stored, declared, removed).entries.map((entry) => {
    const column = entry.column === undefined ? '' : `.${entry.column}`;
    const newName = entry.newName === undefined ? '' : `>${entry.newName}`;
    const index = entry.index === undefined ? '' : ` [${entry.index}]`;
    return `${entry.kind} ${entry.table}${column}${newName}${index}${entry.destructive ? ' !' : ''}`;
  });
}

const ID = { name: 'id', type: 'int64' };
const table = (...columns: unknown[]) => [{ name: 't', primaryKey: ['id'], columns: [ID, ...columns] }];
const column = (type: string, more: object = {}) => ({ name: 'c', type, ...more });

describe('what a plan says', () => {
  it('creates tables, which stand for their indexes', () => {
    const declared = [
      { name: 'a', columns: [ID], indexes: [{ name: 'by_id', columns: ['id'] }] },
      { name: 'b', columns: [ID] },
    ];
    expect(brief(null, declared)).toEqual(['createTable a', 'createTable b']);
    expect(brief([], declared)).toEqual(['createTable a', 'createTable b']);
  });

  it('says nothing where nothing changes, or only the order of columns', () => {
    expect(brief(table(column('string')), table(column('string')))).toEqual([]);
    const turned = [{ name: 't', primaryKey: ['id'], columns: [column('string'), ID] }];
    expect(brief(table(column('string')), turned)).toEqual([]);
  });

  it.each([
    ['quarantine', 'quarantineTable u !', 'quarantineColumn t.c !'],
    ['drop', 'dropTable u !', 'dropColumn t.c !'],
    ['deny', 'dropTable u !', 'dropColumn t.c !'],
  ] as const)('removes by the mode %s', (removed, ofTable, ofColumn) => {
    const stored = [
      ...table(column('string')),
      { name: 'u', columns: [ID], indexes: [{ name: 'i', columns: ['id'] }] },
    ];
    expect(brief(stored, table(), removed)).toEqual([ofColumn, ofTable]);
  });

  it('names an index over a removed column, and over none that is renamed', () => {
    const index = (columns: string[]) => ({ indexes: [{ name: 'i', columns }] });
    const stored = [{ ...table(column('string'))[0], ...index(['c']) }];
    expect(brief(stored, table())).toEqual(['dropIndex t [i]', 'quarantineColumn t.c !']);
    const renamed = [{ ...table({ name: 'd', type: 'string', renamedFrom: 'c' })[0], ...index(['d']) }];
    expect(brief(stored, renamed)).toEqual(['renameColumn t.c>d']);
  });

  it('drops and adds an index that changes', () => {
    const indexed = (index: object) => [
      { ...table(column('string'))[0], indexes: [{ name: 'i', columns: ['c'], ...index }] },
    ];
    expect(brief(indexed({}), indexed({ unique: true }))).toEqual(['dropIndex t [i]', 'addIndex t [i]']);
    expect(brief(indexed({}), indexed({ columns: ['c', 'id'] }))).toEqual(['dropIndex t [i]', 'addIndex t [i]']);
    expect(brief(table(column('string')), indexed({}))).toEqual(['addIndex t [i]']);
  });

  it('has old names in renaming entries and new ones in all others', () => {
    const stored = [{ name: 'old', primaryKey: ['id'], columns: [ID, column('int32')] }];
    const declared = [
      {
        name: 'new',
        renamedFrom: 'old',
        primaryKey: ['key'],
        columns: [
          { name: 'key', type: 'int64', renamedFrom: 'id' },
          { name: 'd', type: 'int64', renamedFrom: 'c' },
        ],
      },
    ];
    expect(brief(stored, declared)).toEqual([
      'renameTable old>new',
      'renameColumn new.id>key',
      'renameColumn new.c>d',
      'alterColumn new.d',
    ]);
  });

  it('ignores a renaming that is done, and creates where neither name exists', () => {
    const declared = [{ ...table({ ...column('string'), renamedFrom: 'b' })[0], renamedFrom: 'gone' }];
    expect(brief(table(column('string')), declared)).toEqual([]);
    expect(brief(table(), declared)).toEqual(['addColumn t.c']);
    expect(brief([], declared)).toEqual(['createTable t']);
  });

  it('switches unique as a change of the column', () => {
    expect(brief(table(column('string')), table(column('string', { unique: true })))).toEqual(['alterColumn t.c']);
    expect(brief(table(), table(column('string', { unique: true, nullable: true })))).toEqual(['addColumn t.c']);
  });

  it('changes the key, also in its order', () => {
    const keyed = (...primaryKey: string[]) => [{ ...table(column('string'))[0], primaryKey }];
    const { primaryKey: _, ...keyless } = table(column('string'))[0] as { primaryKey: unknown };
    expect(brief(keyed('id'), keyed('id', 'c'))).toEqual(['changePrimaryKey t']);
    expect(brief(keyed('id', 'c'), keyed('c', 'id'))).toEqual(['changePrimaryKey t']);
    expect(brief(keyed('id'), [keyless])).toEqual(['changePrimaryKey t']);
    expect(brief([keyless], keyed('id'))).toEqual(['changePrimaryKey t']);
  });

  it('gives every entry a note', () => {
    const stored = [...table(column('string')), { name: 'u', columns: [ID] }];
    for (const { note } of plan(stored, table({ name: 'e', type: 'int32', default: 1 })).entries) {
      expect(note).toMatch(/^[a-z].{10,}/);
    }
  });
});

describe('a column that changes', () => {
  const change = (from: object, to: object) => plan(table(from), table(to));

  it.each([
    [column('int32'), column('int64')],
    [column('string', { length: 20 }), column('string', { length: 21 })],
    [column('string'), column('text')],
    [column('decimal', { precision: 10, scale: 2 }), column('decimal', { precision: 11, scale: 2 })],
    [column('decimal', { precision: 10, scale: 2 }), column('decimal', { precision: 12, scale: 4 })],
    [column('int32'), column('decimal', { precision: 12, scale: 2 })],
    [column('int64'), column('decimal', { precision: 19, scale: 0 })],
    [column('decimal', { precision: 9, scale: 0 }), column('int32')],
    [column('decimal', { precision: 18, scale: 0 }), column('int64')],
    [column('string'), column('string', { nullable: true })],
    [column('string', { nullable: true }), column('string')],
    [column('string'), column('string', { default: 'x' })],
    [column('string', { default: 'y' }), column('string', { default: 'x' })],
  ])('%j becomes %j without loss', (from, to) => {
    const { entries, unsupported } = change(from, to);
    expect(unsupported).toEqual([]);
    expect(entries).toMatchObject([{ kind: 'alterColumn', table: 't', column: 'c', destructive: false }]);
  });

  it.each([
    [column('int64'), column('int32')],
    [column('string', { length: 21 }), column('string', { length: 20 })],
    [column('text'), column('string', { length: 4000 })],
    [column('decimal', { precision: 10, scale: 2 }), column('decimal', { precision: 9, scale: 2 })],
    [column('decimal', { precision: 10, scale: 2 }), column('decimal', { precision: 11, scale: 1 })],
    [column('decimal', { precision: 10, scale: 2 }), column('decimal', { precision: 11, scale: 4 })],
    [column('decimal', { precision: 10, scale: 0 }), column('int32')],
    [column('decimal', { precision: 9, scale: 1 }), column('int64')],
    [column('int32'), column('decimal', { precision: 11, scale: 2 })],
    [column('int64'), column('decimal', { precision: 18, scale: 0 })],
  ])('%j becomes %j, which is destructive', (from, to) => {
    const { entries, unsupported, isDestructive } = change(from, to);
    expect(unsupported).toEqual([]);
    expect(entries).toMatchObject([{ kind: 'alterColumn', destructive: true }]);
    expect(isDestructive).toBe(true);
  });

  const GROUPS = [
    ['int32', 'int64', 'decimal'],
    ['string', 'text'],
  ];
  const pairs = COLUMN_TYPES.flatMap((from) => COLUMN_TYPES.map((to) => [from, to] as const)).filter(
    ([from, to]) => from !== to,
  );
  const isAllowed = (from: string, to: string) => GROUPS.some((group) => group.includes(from) && group.includes(to));

  it.each(pairs)('%s to %s', (from, to) => {
    expect(change(column(from), column(to)).unsupported).toHaveLength(isAllowed(from, to) ? 0 : 1);
  });

  it('never switches autoIncrement', () => {
    const keyed = (more: object) => [{ name: 't', primaryKey: ['id'], columns: [{ ...ID, ...more }] }];
    expect(plan(keyed({}), keyed({ autoIncrement: true })).unsupported).toEqual([
      'column t.id: autoIncrement cannot be switched on',
    ]);
    expect(plan(keyed({ autoIncrement: true }), keyed({})).unsupported).toHaveLength(1);
  });

  it('cannot be renamed where both names exist', () => {
    const stored = table(column('string'), { name: 'd', type: 'string' });
    const declared = table({ name: 'd', type: 'string', renamedFrom: 'c' });
    expect(plan(stored, declared).unsupported).toEqual(['column t.d: cannot be renamed from c, because both exist']);
    const tables = [...table(), { name: 'u', columns: [ID] }];
    const renamed = [{ name: 'u', renamedFrom: 't', columns: [ID] }];
    expect(plan(tables, renamed).unsupported).toEqual(['table u: cannot be renamed from t, because both exist']);
  });
});
