import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPhysical, toPhysical } from '#engine/sqlite/dialect.ts';
import type { Column } from '#protocol/columns.ts';

const decimals = fc.integer({ min: 1, max: 34 }).chain((precision) =>
  fc.integer({ min: 0, max: precision }).chain((scale) => {
    const limit = 10n ** BigInt(precision) - 1n;
    const number = fc.oneof(
      fc.bigInt({ min: -limit, max: limit }),
      fc.bigInt({ min: -20n, max: 20n }).filter((n) => n >= -limit && n <= limit),
    );
    return fc.record({ column: fc.constant(decimalColumn(precision, scale)), a: number, b: number });
  }),
);

function decimalColumn(precision: number, scale: number): Column {
  return { name: 'm', type: 'decimal', precision, scale, nullable: false, unique: false, autoIncrement: false };
}

/** Plain digits without trailing zeros. */
function textOf(scaled: bigint, scale: number): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - scale);
  return `${scaled < 0n ? '-' : ''}${whole}${scale === 0 || fraction === '' ? '' : `.${fraction}`}`;
}

describe('decimals on disk', () => {
  it('lie in the order of their numbers, and come back digit for digit', () => {
    fc.assert(
      fc.property(decimals, ({ column, a, b }) => {
        const scale = column.scale ?? 0;
        const [first, second] = [a, b].map((scaled) => toPhysical(column, textOf(scaled, scale)));
        expect(fromPhysical(column, first ?? null)).toBe(textOf(a, scale));
        // bigints by number, texts of ASCII digits by byte
        const compared = (first as bigint | string) < (second as bigint | string) ? -1 : first === second ? 0 : 1;
        expect(compared).toBe(a < b ? -1 : a === b ? 0 : 1);
      }),
      { numRuns: 500 },
    );
  });
});
