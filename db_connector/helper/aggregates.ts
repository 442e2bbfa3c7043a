import { isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';
import { checkNames, namesOf } from './known-names.ts';
import { listText } from './payload-parts.ts';
import type { JsonText, Text } from './typed-text.ts';

/** A value of an `Aggregate` as a plain object; `Q.Sum` and the others make the same as text. */
export interface AggregateValue {
  /** The name of the column in the answer; the naming rule of columns holds. */
  readonly as: string;
  readonly fn: 'count' | 'countDistinct' | 'sum' | 'min' | 'max';
  /** Left out for `count`: all rows. */
  readonly field?: string | undefined;
}

/** Type of the text of an aggregate value: its name in the answer. */
type Named<A extends string> = Text<{ readonly as: A }>;

/** Values of an `Aggregate`. `as` is the name that the value has in the answer's rows. */
export interface AggregateBuilders {
  /** How many rows. */
  CountRows<const A extends string>(as: A): Named<A>;
  /** How many rows have a value there that is not NULL. */
  CountOf<const A extends string>(field: string, as: A): Named<A>;
  /** How many different values there are, without NULL. */
  CountDistinct<const A extends string>(field: string, as: A): Named<A>;
  /** Exact for integers and decimals at any size; null if no row has a value. */
  Sum<const A extends string>(field: string, as: A): Named<A>;
  /** The smallest value; null if no row has one. */
  Min<const A extends string>(field: string, as: A): Named<A>;
  /** The greatest value; null if no row has one. */
  Max<const A extends string>(field: string, as: A): Named<A>;
}

const VALUE_NAMES = namesOf<AggregateValue>({ as: true, fn: true, field: true });

/** JSON text of the list of values, from one or several. */
export function valuesText(values: unknown): JsonText {
  return listText(Array.isArray(values) ? values : [values], 'values', givenText);
}

function givenText(value: unknown, path: string): JsonText {
  if (isPlainObject(value)) checkNames(value, VALUE_NAMES, path);
  return objectText(value, path, 'a value such as Q.Sum(…)');
}

function valueText(builder: string, fn: AggregateValue['fn'], field: string | undefined, as: string): JsonText {
  for (const name of field === undefined ? [as] : [field, as]) {
    if (typeof name !== 'string') throw new TypeError(`Q.${builder}: expected a name, got ${kindOf(name)}`);
  }
  return jsonText({ as, fn, field }, `Q.${builder}`);
}

export const aggregateBuilders: AggregateBuilders = {
  CountRows: (as) => valueText('CountRows', 'count', undefined, as),
  CountOf: (field, as) => valueText('CountOf', 'count', field, as),
  CountDistinct: (field, as) => valueText('CountDistinct', 'countDistinct', field, as),
  Sum: (field, as) => valueText('Sum', 'sum', field, as),
  Min: (field, as) => valueText('Min', 'min', field, as),
  Max: (field, as) => valueText('Max', 'max', field, as),
};
