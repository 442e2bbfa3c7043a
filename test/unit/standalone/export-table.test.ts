import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExportTable } from '#standalone/export-table.ts';

function tableWith(run: (...args: unknown[]) => unknown): ExportTable {
  const table = new ExportTable();
  table.register('shop', 'Buy', run);
  return table;
}

const echo = (value: unknown) => value;

describe('an export', () => {
  it('gets copies, and gives a copy', () => {
    const kept: unknown[] = [];
    const table = tableWith((value) => {
      kept.push(value);
      return value;
    });
    const given = { list: [1, { deep: 'text' }], nothing: null };
    const got = table.call('town', 'shop', 'Buy', [given]);
    expect(got).toEqual(given);
    expect(kept[0]).toEqual(given);
    expect(got).not.toBe(kept[0]);
    expect(kept[0]).not.toBe(given);
  });

  it('passes on any JSON value', () => {
    const table = tableWith(echo);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // As JSON has it: without the sign of zero.
        expect(table.call('town', 'shop', 'Buy', [value])).toEqual(JSON.parse(text));
      }),
    );
  });

  it('passes on a key __proto__ like every other key, at any depth, and no prototype', () => {
    const text = '{"a":[{"__proto__":{"isAdmin":true,"__proto__":[1]}}],"__proto__":null}';
    const table = tableWith(echo);
    const got = table.call('town', 'shop', 'Buy', [JSON.parse(text)]);
    expect(JSON.stringify(got)).toBe(text);
    const [inner] = (got as { a: object[] }).a;
    expect(Object.getPrototypeOf(inner)).toBe(Object.prototype);
    expect(table.call('town', 'shop', 'Buy', [new Date(5)])).toEqual(new Date(5));
  });

  it('gets views as a Uint8Array of its own', () => {
    const table = tableWith(echo);
    const source = new Uint8Array([1, 2, 3, 4]);
    const got = table.call('town', 'shop', 'Buy', [new Uint8Array(source.buffer, 1, 2)]);
    expect(got).toEqual(new Uint8Array([2, 3]));
    source.fill(9);
    expect(got).toEqual(new Uint8Array([2, 3]));
    expect(table.call('town', 'shop', 'Buy', [Buffer.from('ab')])).toEqual(new Uint8Array([97, 98]));
  });

  it('gets a list of texts as a list of its own, with gaps as in any other list', () => {
    const kept: string[][] = [];
    const table = tableWith((list: unknown) => {
      kept.push(list as string[]);
      return list;
    });
    const texts = ['a', '', 'Zoë'];
    const got = table.call('town', 'shop', 'Buy', [texts]);
    expect(got).toEqual(texts);
    expect(kept[0]).not.toBe(texts);
    expect(got).not.toBe(kept[0]);
    const withGap = ['a', 'b'];
    delete withGap[0];
    expect(table.call('town', 'shop', 'Buy', [withGap])).toEqual([null, 'b']);
  });

  it('knows who calls', () => {
    const table = new ExportTable();
    table.register('shop', 'Who', function () {
      return this.caller;
    });
    expect(table.call('town', 'shop', 'Who', [])).toBe('town');
  });

  const ring: { own?: object } = {};
  ring.own = ring;
  const protoRing: { own?: object } = JSON.parse('{"__proto__":1}');
  protoRing.own = protoRing;

  it.each<[string, unknown]>([
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
    ['a BigInt', 5n],
    ['a ring', ring],
    ['a ring with a key __proto__', protoRing],
    ['a function inside', { on: [() => {}] }],
  ])('throws in the caller for %s, as argument and as result', (_name, value) => {
    let calls = 0;
    const table = tableWith(() => {
      calls += 1;
      return value;
    });
    expect(() => table.call('town', 'shop', 'Buy', [value])).toThrow();
    expect(calls).toBe(0);
    expect(() => table.call('town', 'shop', 'Buy', [])).toThrow();
    expect(calls).toBe(1);
  });

  it('that answers with a promise is told so', () => {
    const table = tableWith(async () => {
      throw new Error('later');
    });
    expect(() => table.call('town', 'shop', 'Buy', [])).toThrow('exports answer at once');
  });

  it('that throws, throws in the caller', () => {
    const table = tableWith(() => {
      throw new RangeError('sold out');
    });
    expect(() => table.call('town', 'shop', 'Buy', [])).toThrow('sold out');
  });

  it('that is not there is named', () => {
    const table = tableWith(echo);
    expect(() => table.call('town', 'shop', 'Sell', [])).toThrow('No such export Sell in bundle shop');
    expect(() => table.call('town', 'bank', 'Buy', [])).toThrow('No such export Buy in bundle bank');
    table.withdraw('shop');
    expect(() => table.call('town', 'shop', 'Buy', [])).toThrow('No such export Buy in bundle shop');
  });

  it('cannot be registered twice, nor without a function', () => {
    const table = tableWith(echo);
    expect(() => table.register('shop', 'Buy', echo)).toThrow('registered already');
    expect(() => table.register('shop', '', echo)).toThrow('needs a name');
    expect(() => table.register('shop', 'Sell', 'x' as never)).toThrow('expected a function');
    expect(table.call('town', 'shop', 'Buy', [1])).toBe(1);
  });

  it('may call others, and be called by them, in the middle of a call', () => {
    const table = new ExportTable();
    table.register('a', 'Down', (n) => {
      const left = n as number;
      return left === 0 ? ['end'] : ['a', ...(table.call('a', 'b', 'Down', [left - 1]) as unknown[])];
    });
    table.register('b', 'Down', (n) => ['b', ...(table.call('b', 'a', 'Down', [n]) as unknown[])]);
    expect(table.call('x', 'a', 'Down', [2])).toEqual(['a', 'b', 'a', 'b', 'end']);
  });
});
