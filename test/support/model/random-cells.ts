import { decimalText, rangeOf } from './model-values.ts';
import { BYTES, DATES, DATETIMES, FLOATS, JSONS, OVERFLOW, UUIDS, WORDS } from './nasty-values.ts';
import type { RandomSource } from './random-source.ts';
import type { Cell, ModelColumn, Operand } from './types.ts';

const LONG_TEXT_LENGTH = 5000;
const quoted = (text: string): string => JSON.stringify(text);

/** A value that the column can hold. */
export function randomCell(random: RandomSource, column: ModelColumn): Cell {
  switch (column.type) {
    case 'int32':
    case 'int64':
      return integerCell(random, column);
    case 'decimal':
      return decimalCell(random, column);
    case 'float64':
      return floatCell(random.pick(FLOATS));
    case 'bool': {
      const value = random.chance(50);
      return { text: String(value), value };
    }
    case 'string':
    case 'text':
      return textCell(random, column);
    case 'json':
      return pairCell(random.pick(JSONS));
    case 'datetime':
      return pairCell(random.pick(DATETIMES));
    case 'date':
      return sameCell(random.pick(DATES));
    case 'uuid':
      return pairCell(random.pick(UUIDS));
    case 'bytes':
      return sameCell(random.pick(BYTES));
    default:
      return column.type satisfies never;
  }
}

const pairCell = ([text, value]: readonly [string, string]): Cell => ({ text, value });
const sameCell = (value: string): Cell => ({ text: quoted(value), value });

function floatCell(value: number): Cell {
  return { text: JSON.stringify(value), value };
}

/** Where ids are generated the last one is rare: after a failed request nobody knows whether the generator is at its end. */
function integerCell(random: RandomSource, column: ModelColumn): Cell {
  if (column.autoIncrement && random.chance(98)) {
    const id = random.pick([0n, 1n, 2n, 3n, 5n, -1n, 50n, 1000n, ...(column.type === 'int64' ? [2n ** 53n + 1n] : [])]);
    return { text: integerText(random, id), value: id };
  }
  const { min, max } = rangeOf(column);
  const special = [0n, 1n, 2n, 3n, -1n, 10n, 100n, min, max, min + 1n, max - 1n];
  if (column.type === 'int64') special.push(2n ** 53n, 2n ** 53n + 1n, 2n ** 53n - 1n, -(2n ** 53n) - 1n);
  const value = random.chance(80) ? random.pick(special) : random.bigint(min, max);
  return { text: integerText(random, value), value };
}

/** Numbers count by value, whatever their form. */
function integerText(random: RandomSource, value: bigint): string {
  if (value === 0n && random.chance(20)) return '-0';
  if (value === 100n && random.chance(30)) return '1e2';
  return random.chance(10) ? `${value}.0` : String(value);
}

function decimalCell(random: RandomSource, column: ModelColumn): Cell {
  const { max } = rangeOf(column);
  const one = 10n ** BigInt(column.scale);
  const special = [0n, 1n, -1n, max, -max, max - 1n, one, -one, one / 2n, one + 1n, max / 3n];
  const fitting = special.filter((value) => value <= max && value >= -max);
  const scaled = random.chance(75) ? random.pick(fitting) : random.bigint(-max, max);
  const digits = decimalText(scaled, column.scale);
  const form = random.pick(['plain', 'plain', 'quoted', 'zeros']);
  if (form === 'quoted') return { text: quoted(digits), value: scaled };
  return { text: form === 'zeros' ? `${digits}${digits.includes('.') ? '' : '.'}00` : digits, value: scaled };
}

function textCell(random: RandomSource, column: ModelColumn): Cell {
  const limit = column.type === 'text' ? LONG_TEXT_LENGTH : column.length;
  const fits = (word: string) => [...word].length <= limit;
  if (random.chance(4)) return sameCell(random.pick(['x', 'é', '🚗']).repeat(limit));
  const word = random.pick(WORDS.filter(fits));
  const longer = word + random.pick(WORDS);
  return sameCell(random.chance(15) && fits(longer) ? longer : word);
}

/** A value that the column refuses, with the code. */
export function wrongCell(random: RandomSource, column: ModelColumn): Cell {
  const wrong = (text: string, refusal = 'invalid_value'): Cell => ({ text, value: null, refusal });
  switch (column.type) {
    case 'int32':
      return wrong(random.pick(['2147483648', '-2147483649', '1.5', '"1"', '1e300', 'true']));
    case 'int64':
      return wrong(random.pick(['9223372036854775808', '-9223372036854775809', '0.5', '"1"', '1e40', '[]']));
    case 'decimal': {
      const tooLarge = `1${'0'.repeat(column.precision - column.scale)}`;
      return wrong(random.pick([tooLarge, `-${tooLarge}`, `0.${'0'.repeat(column.scale)}1`, '"1e3"', '""', 'true']));
    }
    case 'float64':
      return wrong(random.pick([OVERFLOW, '"1"', 'false', '{}']));
    case 'bool':
      return wrong(random.pick(['0', '1', '"true"']));
    case 'string':
      return random.chance(50)
        ? wrong(quoted('🚗'.repeat(column.length + 1)), 'value_too_long')
        : wrong(random.pick(['"\\u0000"', '"\\ud800"', '1']));
    case 'text':
      return wrong(random.pick(['"a\\u0000b"', '"\\udc00"', '1', '[]']));
    case 'json':
      return wrong(random.pick([OVERFLOW, '"\\u0000"', '["\\ud800"]']));
    case 'datetime':
      return wrong(random.pick(['"2023-02-29T00:00:00Z"', '"2024-01-01"', '"0000-12-31T00:00:00Z"', '0']));
    case 'date':
      return wrong(random.pick(['"2023-02-29"', '"2024-1-1"', '"0000-01-01"', '"2024-01-01T00:00:00Z"']));
    case 'uuid':
      return wrong(random.pick(['"0f8fad5bd9cb469fa16570867728950e"', '""', '1']));
    case 'bytes':
      return wrong(random.pick(['"AP8"', '"A==="', '"AB=="', '"é"']));
    default:
      return column.type satisfies never;
  }
}

/** Amount for `inc`: maybe more than the column holds. */
export function randomAmount(random: RandomSource, column: ModelColumn): Cell {
  if (column.type === 'float64') return floatCell(random.pick(FLOATS));
  if (random.chance(60)) {
    const small = BigInt(random.int(-3, 3));
    const value = column.type === 'decimal' ? small * 10n ** BigInt(random.int(0, column.scale)) : small;
    return fitting(column, value, random);
  }
  const { min, max } = rangeOf(column);
  const beyond = max - min;
  return fitting(column, random.pick([max, min, beyond, -beyond, beyond + 1n, beyond * 10n, -beyond * 1000n]), random);
}

function fitting(column: ModelColumn, value: bigint, random: RandomSource): Cell {
  if (column.type !== 'decimal') return { text: String(value), value };
  const digits = decimalText(value, column.scale);
  return { text: random.chance(30) ? quoted(digits) : digits, value };
}

/** The value of a condition: one that a row may hold, or one that no row can. */
export function randomOperand(random: RandomSource, column: ModelColumn): Operand {
  switch (column.type) {
    case 'int32':
    case 'int64':
    case 'decimal':
      return numberOperand(random, column);
    case 'string':
    case 'text':
      if (random.chance(10)) return textOperand(random.pick(['y'.repeat(70), 'a\u0000', 'ä'.repeat(61), '\u0000']));
      return randomCell(random, column) as Operand;
    case 'datetime':
      if (random.chance(5)) return { text: '"0001-01-01T00:00:00+01:00"', value: '' };
      if (random.chance(5)) return { text: '"9999-12-31T23:59:59-00:01"', value: '~' };
      return randomCell(random, column) as Operand;
    case 'json':
      return pairCell(random.pick(JSONS.filter(([text]) => !/^[[{]/.test(text)))) as Operand;
    default:
      return randomCell(random, column) as Operand;
  }
}

export const textOperand = (value: string): Operand => ({ text: quoted(value), value });

function numberOperand(random: RandomSource, column: ModelColumn): Operand {
  if (random.chance(85)) {
    const { text, value } = randomCell(random, column);
    return { text, value: { digits: value as bigint, scale: column.type === 'decimal' ? column.scale : 0 } };
  }
  const digits = random.pick([5n, -5n, 10n ** 40n, -(10n ** 40n), 2n ** 63n, 25n, 99999n]);
  const scale = random.pick([0, 1, 3, 12]);
  return { text: decimalText(digits, scale), value: { digits, scale } };
}
