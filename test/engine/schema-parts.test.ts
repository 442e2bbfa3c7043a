import { describe, expect, it } from 'vitest';
import { partOfKeptTable, textOfKeptTable } from '#engine/model/kept.ts';
import { ownershipOf, settledSchema, withTables } from '#engine/model/schema-parts.ts';
import { formatOf, schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { Part, Schema, Table } from '#protocol/schema.ts';

function table(name: string, ...columns: string[]): Table {
  const plain = { type: 'int32', nullable: true, unique: false, autoIncrement: false } as const;
  return { name, columns: columns.map((column) => ({ name: column, ...plain })), indexes: [] };
}

function part(name: string, tables: string[], ...extended: [table: string, ...columns: string[]][]): Part {
  return { name, tables, extensions: extended.map(([on, ...columns]) => ({ table: on, columns, indexes: [] })) };
}

const FROM: Schema = {
  tables: [table('calls', 'c'), table('people', 'a', 'phone', 'car')],
  parts: [part('garage', [], ['people', 'car']), part('phone', ['calls'], ['people', 'phone'])],
};

describe('a stored schema', () => {
  it('keeps its parts as text, and one without parts is the text that it always was', () => {
    expect(schemaOfText(textOfSchema(FROM))).toEqual(FROM);
    const bare = { tables: FROM.tables };
    expect(textOfSchema(bare)).not.toContain('parts');
    expect(schemaOfText(textOfSchema(bare))).toEqual(bare);
    expect([formatOf(bare), formatOf(FROM)]).toEqual([1, 2]);
  });

  it('loses what is no longer in it to nobody', () => {
    const left = withTables(FROM, [table('people', 'a', 'phone')]);
    expect(left.parts).toEqual([part('phone', [], ['people', 'phone'])]);
    expect(withTables(FROM, [table('people', 'a')]).parts).toBeUndefined();
  });

  it('of a change that was done in part has what is new for whom it was to be, and the rest for whom it was', () => {
    const to: Schema = {
      tables: [table('people', 'a', 'phone', 'horse'), table('stables', 's')],
      parts: [part('garage', ['stables'], ['people', 'horse']), part('phone', [], ['people', 'phone'])],
    };
    // The table of `to` is made, the one of `from` is not gone yet, and `people` has not changed.
    const settled = settledSchema([...FROM.tables, table('stables', 's')], FROM, to);
    expect(settled.parts).toEqual([
      part('garage', ['stables'], ['people', 'car']),
      part('phone', ['calls'], ['people', 'phone']),
    ]);
    expect(ownershipOf(settled).ofColumn('people', 'a')).toBe('main');
  });

  it('tells of a table in quarantine whose it was', () => {
    expect(partOfKeptTable(textOfKeptTable(table('calls', 'c'), 'phone'), 'calls')).toBe('phone');
    expect(partOfKeptTable(textOfKeptTable(table('calls', 'c')), 'calls')).toBe('main');
  });
});
