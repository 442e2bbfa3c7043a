export { addAmount, parseAmount } from '../../db_connector/protocol/value-numbers.ts';
export { parseValue, type Value, writeValue } from '../../db_connector/protocol/values.ts';
