import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '#engine/rows.ts';
import type { Column } from '#protocol/schema.ts';
import { RowSetSum } from '#sidecar/importing/row-set-sum.ts';
import { RowsSum } from '#sidecar/moving/checksum.ts';

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  unique: false,
  autoIncrement: false,
});
const COLUMNS = [column('a', 'string'), column('b', 'int64'), column('c', 'bytes')];

const rowOf = (a: string | null, b: bigint | null, c: Uint8Array | null): Row =>
  new Map<string, string | bigint | Uint8Array | null>([
    ['a', a],
    ['b', b],
    ['c', c],
  ]);

const cell = fc.tuple(
  fc.option(fc.string({ unit: 'binary' })),
  fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  fc.option(fc.uint8Array()),
);
const row = cell.map(([a, b, c]): Row => rowOf(a, b, c));
const textOf = (one: Row): string =>
  JSON.stringify([
    one.get('a'),
    String(one.get('b')),
    one.get('c') === null ? null : [...(one.get('c') as Uint8Array)],
  ]);

function sumOf(rows: readonly Row[], pageRows: number) {
  const sum = new RowsSum(COLUMNS);
  for (let at = 0; at < rows.length; at += pageRows) sum.add(rows.slice(at, at + pageRows));
  return sum.summary();
}

describe('the checksum of rows', () => {
  it('does not depend on the pages in which they come', () => {
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 5 }), (rows, pageRows) => {
        expect(sumOf(rows, pageRows)).toEqual(sumOf(rows, 1000));
      }),
    );
  });

  it('tells other rows, and another order', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), fc.array(row, { maxLength: 4 }), (one, other) => {
        const isSame = JSON.stringify(one.map(textOf)) === JSON.stringify(other.map(textOf));
        expect(sumOf(one, 2).checksum === sumOf(other, 2).checksum).toBe(isSame);
      }),
    );
  });

  it('is the one that the documentation tells', () => {
    const rows: Row[] = [rowOf('ä"', 2n ** 53n + 1n, new Uint8Array([0, 255]))];
    // sha256 of: "ä\"",9007199254740993,"AP8=" and a line feed
    expect(sumOf(rows, 1)).toEqual({ rows: 1, checksum: '40ee0898a6921238' });
  });
});

describe('the sum of a set of rows', () => {
  it('does not depend on their order, and counts each', () => {
    const sumOfSet = (rows: readonly Row[]): RowSetSum => {
      const sum = new RowSetSum(COLUMNS);
      for (const one of rows) sum.add(one);
      return sum;
    };
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.array(row, { maxLength: 5 }), (one, other) => {
        const isSame = JSON.stringify(one.map(textOf).sort()) === JSON.stringify(other.map(textOf).sort());
        expect(sumOfSet(one).equals(sumOfSet(other))).toBe(isSame);
        expect(sumOfSet(one).equals(sumOfSet([...one].reverse()))).toBe(true);
      }),
    );
  });
});
