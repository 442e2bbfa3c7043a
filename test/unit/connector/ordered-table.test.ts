import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedTable } from '#connector/client/ordered-table.ts';

/** Few keys, so that the same come again; short ones and numbers too. */
const key = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.string({ maxLength: 2 }),
  fc.constantFrom('aaaa1', 'aaaa2', 'b'),
);
const step = fc.record({ act: fc.constantFrom('add', 'add', 'take', 'get', 'clear'), key, value: fc.nat() });

describe('a table of calls under way', () => {
  it('holds what a Map holds, in the same order, whatever was added and deleted before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const table = new OrderedTable<string | number, number>();
        const model = new Map<string | number, number>();
        for (const { act, key, value } of steps) {
          if (act === 'add' && !model.has(key)) {
            table.add(key, value);
            model.set(key, value);
          } else if (act === 'take') {
            expect(table.take(key)).toBe(model.get(key));
            model.delete(key);
          } else if (act === 'clear' && value % 20 === 0) {
            table.clear();
            model.clear();
          } else expect(table.get(key)).toBe(model.get(key));
          expect(table.size).toBe(model.size);
        }
        expect([...table.entries()]).toEqual([...model]);
      }),
    );
  });

  it('keeps 10,000 entries apart, and finds each of them after others are gone', () => {
    const table = new OrderedTable<string, number>();
    const keys = Array.from({ length: 10_000 }, (_, index) => `id-${(index * 2_654_435_761) % 2 ** 32}`);
    for (const [index, key] of keys.entries()) table.add(key, index);
    for (let index = 0; index < keys.length; index += 2) expect(table.take(keys[index] as string)).toBe(index);
    expect(table.size).toBe(5000);
    expect(table.get(keys[9999] as string)).toBe(9999);
    expect(table.get(keys[9998] as string)).toBeUndefined();
    expect([...table.entries()].map(([, value]) => value)).toEqual(
      keys.map((_, index) => index).filter((index) => index % 2 === 1),
    );
  });

  it('holds few entries after many, in their order, each time that it was empty or nearly so', () => {
    const table = new OrderedTable<string, number>();
    const model = new Map<string, number>();
    let next = 0;
    const add = (count: number) => {
      for (const end = next + count; next < end; next += 1) {
        table.add(`id-${next}`, next);
        model.set(`id-${next}`, next);
      }
    };
    const takeAllBut = (count: number) => {
      for (const key of [...model.keys()].slice(0, model.size - count)) {
        expect(table.take(key)).toBe(model.get(key));
        model.delete(key);
      }
    };
    for (const left of [0, 1, 5, 40]) {
      add(5000);
      for (let turn = 0; turn < 400; turn += 1) {
        takeAllBut(left);
        expect([...table.entries()]).toEqual([...model]);
        add(1 + (turn % 50));
      }
    }
  });

  it('keeps keys with the same end apart', () => {
    const table = new OrderedTable<string, number>();
    for (let index = 0; index < 200; index += 1) table.add(`${index}-same-end`, index);
    for (let index = 0; index < 200; index += 3) expect(table.take(`${index}-same-end`)).toBe(index);
    for (let index = 0; index < 200; index += 1)
      expect(table.get(`${index}-same-end`)).toBe(index % 3 === 0 ? undefined : index);
  });

  it('leaves nothing behind that keeps ended calls alive for the collector of young objects', () => {
    const program = fileURLToPath(new URL('calls-that-come-and-go.ts', import.meta.url));
    const traced = execFileSync(process.execPath, ['--expose-gc', '--trace-gc-nvp', program], { encoding: 'utf8' });
    const sum = (name: string) =>
      [...traced.matchAll(new RegExp(` ${name}=(\\d+)`, 'g'))].reduce((total, [, bytes]) => total + Number(bytes), 0);
    expect(sum('allocated')).toBeGreaterThan(20_000_000);
    // With a `Map` more than a third survives, from the first look at all objects on.
    expect(sum('new_space_survived') / sum('allocated')).toBeLessThan(0.1);
  });

  it('may lose entries while they are listed', () => {
    const table = new OrderedTable<number, string>();
    for (let id = 1; id <= 100; id += 1) table.add(id, `call ${id}`);
    const seen: number[] = [];
    for (const [id] of table.entries()) {
      seen.push(id);
      table.take(id);
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(table.size).toBe(0);
  });
});
