import { describe, expect, it } from 'vitest';
import type { ColumnInfo } from '#panel/shapes/database.ts';
import { buildFilter, type Condition, draftOf, opsOf } from '#panel/web/database/filter-model.ts';

const column = (name: string, type: string): ColumnInfo => ({
  ...{ name, type, nullable: true, isKey: false, isUnique: false, isEditable: true, isSortable: true },
  filterOps: ['eq', 'ne', 'in', 'isNull'],
});
const COLUMNS = [column('id', 'int64'), column('name', 'string'), column('money', 'decimal'), column('extra', 'json')];

let lastId = 0;
function condition(name: string, op: string, text = ''): Condition {
  lastId += 1;
  return { id: lastId, column: name, op, text };
}

const build = (...conditions: Condition[]) => buildFilter({ join: 'and', conditions }, COLUMNS);

describe('the filter that people build', () => {
  it.each([
    ['a word for a number', condition('id', 'eq', 'twelve'), 'fault-int'],
    ['a fraction for an integer', condition('id', 'eq', '1.5'), 'fault-int'],
    ['nothing for a number', condition('id', 'eq', ' '), 'fault-empty'],
    ['nothing to search for', condition('name', 'contains', ''), 'fault-empty'],
    ['an empty list', condition('id', 'in', '\n \n'), 'fault-empty'],
    ['one wrong line of a list', condition('id', 'in', '1\nx'), 'fault-int'],
    ['a column that is gone', condition('gone', 'eq', '1'), 'fault-column'],
    ['half of a JSON value', condition('extra', 'eq', '{"a":'), 'fault-json'],
  ])('says what is wrong with %s', (_what, wrong, fault) => {
    const { faults, text } = build(wrong);
    expect(faults.get(wrong.id)).toBe(fault);
    expect(text).toBe('');
  });

  it('is empty without conditions, one condition alone, and a group of several', () => {
    expect(build().text).toBe('');
    expect(build(condition('name', 'eq', 'Kim "K"')).text).toBe('{"field":"name","op":"eq","value":"Kim \\"K\\""}');
    const both = { join: 'or' as const, conditions: [condition('id', 'isNull'), condition('id', 'notNull')] };
    expect(JSON.parse(buildFilter(both, COLUMNS).text)).toEqual({
      or: [
        { field: 'id', op: 'isNull', value: true },
        { field: 'id', op: 'isNull', value: false },
      ],
    });
  });

  it('sends every digit that was written', () => {
    expect(build(condition('id', 'eq', '9223372036854775807')).text).toContain('"value":9223372036854775807}');
    expect(build(condition('id', 'in', '1\n 9007199254740993 ')).text).toContain('[1,9007199254740993]');
    expect(build(condition('money', 'eq', '+00.10')).text).toContain('"value":0.10}');
  });

  it('reads back what it has written', () => {
    const conditions = [
      condition('id', 'in', '9007199254740993\n2'),
      condition('name', 'eq', '12'),
      condition('money', 'notNull'),
    ];
    const { text } = build(...conditions);
    const draft = draftOf(text);
    expect(draft).not.toBeNull();
    expect(buildFilter(draft ?? { join: 'or', conditions: [] }, COLUMNS).text).toBe(text);
  });

  it.each([
    '{"not":{"field":"id","op":"eq","value":1}}',
    '{"and":[{"or":[]}]}',
    '{"field":"id","op":"eq","value":null}',
    'nonsense',
  ])('leaves to the text what lines cannot say: %s', (text) => expect(draftOf(text)).toBeNull());

  it('asks for emptiness only where there can be any', () => {
    expect(opsOf({ filterOps: ['eq', 'isNull'], nullable: true })).toEqual(['eq', 'isNull', 'notNull']);
    expect(opsOf({ filterOps: ['eq', 'isNull'], nullable: false })).toEqual(['eq']);
  });
});
