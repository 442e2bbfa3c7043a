import { ApiError } from '#protocol/errors.ts';
import type { Schema } from '#protocol/schema.ts';
import { decimalScale } from '#protocol/value-numbers.ts';
import type { Capabilities } from '../engine/engine.ts';

/** @throws ApiError `invalid_schema` for a `decimal` with more digits after the point than the database keeps */
export function checkScales({ tables }: Schema, { maxDecimalScale }: Pick<Capabilities, 'maxDecimalScale'>): void {
  for (const { name, columns } of tables) {
    const column = columns.find((each) => each.type === 'decimal' && decimalScale(each) > maxDecimalScale);
    if (column === undefined) continue;
    const most = `expected at most ${maxDecimalScale}, which is what this database keeps`;
    throw new ApiError('invalid_schema', `scale of ${name}.${column.name}: ${most}, got ${decimalScale(column)}`);
  }
}
