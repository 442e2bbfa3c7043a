export { addAmount, parseAmount } from '#protocol/value-numbers.ts';
export { parseValue, type Value, writeValue } from '#protocol/values.ts';
