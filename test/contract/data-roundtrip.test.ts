import fc from 'fast-check';
import { expect, it } from 'vitest';
import { declare, PATIENT, useSidecar } from './data-world.ts';

const world = useSidecar({ config: PATIENT });

/** Values of a type as they are sent; all are in the form in which they are returned. */
interface TypeCase {
  readonly column: object;
  readonly value: fc.Arbitrary<string>;
}

const bigints = (bits: number): fc.Arbitrary<string> =>
  fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }).map(String);

const text = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: 'grapheme', maxLength })
    .filter((value) => !value.includes('\0') && value.isWellFormed() && [...value].length <= maxLength)
    .map((value) => JSON.stringify(value));

/** Canonical digits of a decimal: no zeros at the ends, no "-0". */
function decimalText(scaled: bigint, scale: number): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const decimal: fc.Arbitrary<TypeCase> = fc.integer({ min: 1, max: 34 }).chain((precision) =>
  fc.integer({ min: 0, max: precision }).map((scale) => {
    const limit = 10n ** BigInt(precision) - 1n;
    const value = fc.bigInt({ min: -limit, max: limit }).map((scaled) => decimalText(scaled, scale));
    return { column: { type: 'decimal', precision, scale }, value };
  }),
);

const doubles = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? '0' : JSON.stringify(value)));

const times = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

const fixed = (column: object, value: fc.Arbitrary<string>): fc.Arbitrary<TypeCase> => fc.constant({ column, value });

const typeCase: fc.Arbitrary<TypeCase> = fc.oneof(
  fixed({ type: 'int32' }, bigints(32)),
  fixed({ type: 'int64' }, bigints(64)),
  decimal,
  fixed({ type: 'float64' }, doubles),
  fixed({ type: 'bool' }, fc.constantFrom('true', 'false')),
  fc.integer({ min: 1, max: 40 }).map((length) => ({ column: { type: 'string', length }, value: text(length) })),
  fixed({ type: 'text' }, text(300)),
  fixed(
    { type: 'json' },
    fc
      .json({ stringUnit: 'grapheme' })
      .filter((value) => value !== 'null' && !/\\u0000|\\ud[89a-f]|-0|__proto__/.test(value)),
  ),
  fixed(
    { type: 'datetime' },
    times.map((time) => JSON.stringify(time)),
  ),
  fixed(
    { type: 'date' },
    times.map((time) => JSON.stringify(time.slice(0, 10))),
  ),
  fixed(
    { type: 'uuid' },
    fc.uuid().map((value) => JSON.stringify(value)),
  ),
  fixed(
    { type: 'bytes' },
    fc.uint8Array({ maxLength: 100 }).map((value) => `"${Buffer.from(value).toString('base64')}"`),
  ),
);

/** A schema of some columns, and rows of them as JSON texts in the order of the columns. */
const tableAndRows = fc
  .array(fc.record({ type: typeCase, isNullable: fc.boolean() }), { minLength: 1, maxLength: 8 })
  .chain((columns) => {
    const values = columns.map(({ type, isNullable }) =>
      isNullable ? fc.oneof(type.value, fc.constant('null')) : type.value,
    );
    return fc.record({
      columns: fc.constant(
        columns.map(({ type, isNullable }, i) => ({ name: `c${i}`, ...type.column, nullable: isNullable })),
      ),
      rows: fc.array(fc.tuple(...values), { minLength: 1, maxLength: 10 }),
    });
  });

/** JSON texts are compared after the native reader's spacing only: numbers keep every digit. */
function rowText(columns: readonly { readonly name: string }[], row: readonly string[]): string {
  return `{${columns.map(({ name }, i) => `"${name}":${row[i]}`)}}`;
}

it('rows of a random schema are read as they were written', async () => {
  await fc.assert(
    fc.asyncProperty(tableAndRows, async ({ columns, rows }) => {
      const namespace = await declare(world.client, { name: 'any', columns });
      const texts = rows.map((row) => rowText(columns, row));
      await world.client.must('insert', `{"namespace":"${namespace}","table":"any","rows":[${texts}]}`);
      const found = await world.client.call('find', { namespace, table: 'any' });
      expect(found.text).toBe(`{"rows":[${texts}],"hasMore":false}`);
    }),
    { numRuns: 50 },
  );
});
