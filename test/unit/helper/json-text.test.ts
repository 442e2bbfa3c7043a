import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText } from '#connector/helper/json-text.ts';

const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true, maxDepth: 4 });

/** The text, or what the error says. */
function outcome(value: unknown): string {
  try {
    return jsonText(value, 'row');
  } catch (error) {
    return `${(error as Error).name} ${(error as Error).message}`;
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

describe('JSON text of plain values', () => {
  test('is what JSON says', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonText(value, 'row')).toBe(JSON.stringify(value));
      }),
    );
  });

  // A BigInt beside it is beyond the native writer.
  test('is the same, and its errors too, beside what needs care', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const alone = outcome({ value });
        const beside = outcome({ value, big: 1n });
        expect(beside).toBe(
          alone.startsWith('{') ? `${alone.slice(0, -1)}${alone === '{}' ? '' : ','}"big":1}` : alone,
        );
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, () => 1, Symbol('x')])(
    'refuses %s deep inside, by its path',
    (value) => {
      expect(() => jsonText({ list: [{ value }] }, 'row')).toThrow('row.list[0].value: ');
    },
  );

  test('has an end', () => {
    expect(jsonText(nested(128), 'row')).toBe(JSON.stringify(nested(128)));
    expect(() => jsonText(nested(129), 'row')).toThrow('too deep');
    const ring: { self?: unknown } = {};
    ring.self = ring;
    expect(() => jsonText(ring, 'row')).toThrow('too deep');
  });

  test('asks for toJSON, wherever it comes from', () => {
    const value = Object.assign(Object.create({ toJSON: () => 'inherited' }), { a: 1 });
    expect(jsonText({ value, own: { toJSON: () => 2n } }, 'row')).toBe('{"value":"inherited","own":2}');
  });
});
