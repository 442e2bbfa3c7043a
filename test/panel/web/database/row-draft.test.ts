import { describe, expect, it } from 'vitest';
import type { ColumnInfo } from '#panel/shapes/database.ts';
import { changesOf, draftOfRow, type RowDraft, rowRequest, valuesOf } from '#panel/web/database/row-draft.ts';

const column = (name: string, type: string, more: Partial<ColumnInfo> = {}): ColumnInfo => ({
  ...{ name, type, nullable: false, isKey: false, isUnique: false, isEditable: true, isSortable: true },
  filterOps: [],
  ...more,
});
const COLUMNS = [
  column('id', 'int64', { isKey: true, isEditable: false }),
  column('name', 'string', { nullable: true }),
  column('money', 'int64'),
  column('extra', 'json', { nullable: true }),
  column('price', 'decimal', { precision: 6, scale: 2 }),
  column('plate', 'string', { length: 3 }),
  column('level', 'int32'),
];
const VALUES = valuesOf({ columns: COLUMNS }, [
  '9007199254740993',
  '"Kim"',
  '9223372036854775807',
  '{"b":1,"a":[]}',
  '1',
  '"A"',
  '1',
]);

/** Request of an edit that changes one field. */
function written(name: string, field: RowDraft[string]) {
  return changesOf(COLUMNS, VALUES, { ...draftOfRow(COLUMNS, VALUES), [name]: field });
}

describe('editing a row', () => {
  it('says what is wrong with a field', () => {
    expect(written('money', { isNull: false, text: 'much' }).faults).toEqual({ money: 'fault-int' });
    expect(written('money', { isNull: true, text: '' }).faults).toEqual({ money: 'fault-null' });
    expect(written('extra', { isNull: false, text: '{"a":' }).faults).toEqual({ extra: 'fault-json' });
  });

  it.each([
    ['price', '0.123', 'fault-scale'],
    ['price', '12345', 'fault-digits'],
    ['price', '-9999.990', null],
    ['plate', '𝒜𝒜𝒜', null],
    ['plate', '𝒜𝒜𝒜𝒜', 'fault-length'],
    ['level', '2147483648', 'fault-range'],
    ['level', '-2147483648', null],
    ['money', '9223372036854775808', 'fault-range'],
  ])('refuses what a column cannot hold before it is sent: %s %s', (name, text, fault) => {
    expect(written(name, { isNull: false, text }).faults).toEqual(fault === null ? {} : { [name]: fault });
  });

  it('sends nothing of what nobody touched', () => {
    expect(changesOf(COLUMNS, VALUES, draftOfRow(COLUMNS, VALUES))).toEqual({ set: {}, faults: {} });
  });

  it('sends only the field that changed, with all its digits', () => {
    const { set } = written('money', { isNull: false, text: '9223372036854775806' });
    expect(set).toEqual({ money: '9223372036854775806' });
  });

  it('tells nothing from an empty text', () => {
    expect(written('name', { isNull: true, text: 'Kim' }).set).toEqual({ name: 'null' });
    expect(written('name', { isNull: false, text: '' }).set).toEqual({ name: '""' });
  });

  it('takes JSON that was only laid out anew for the same', () => {
    expect(written('extra', { isNull: false, text: '{"b": 1,\n\n "a": [ ]}' }).set).toEqual({});
    expect(written('extra', { isNull: false, text: '{"b":1,"a":[9007199254740993]}' }).set).toEqual({
      extra: '{"b":1,"a":[9007199254740993]}',
    });
  });

  it('names the row by its key and says what was seen of it', () => {
    const request = rowRequest({ namespace: 'game', table: 'players' }, { key: ['id'] }, VALUES, { name: '"Jo"' });
    expect(request.key).toEqual({ id: '9007199254740993' });
    expect(request.seen).toEqual(VALUES);
    const long = { ...VALUES, name: JSON.stringify('x'.repeat(200_000)) };
    expect(rowRequest({ namespace: 'game', table: 'players' }, { key: ['id'] }, long, {}).seen).not.toHaveProperty(
      'name',
    );
  });
});
