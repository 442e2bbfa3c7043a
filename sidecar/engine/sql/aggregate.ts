import { type AggregateOutput, floatSumText } from '../model/aggregate.ts';
import type { AggregateQuery, AggregateValue } from '../rows.ts';
import type { Encode, SqlDialect } from './dialect.ts';

/** What the select of an aggregate is made of, but for its condition. */
export interface AggregateParts {
  /** Behind SELECT: each output under the name of its column. */
  readonly list: string;
  /** Empty where all rows are one group. */
  readonly groupBy: string;
  /** Empty where there is one row. */
  readonly orderBy: string;
}

export function aggregateParts(
  dialect: SqlDialect,
  query: AggregateQuery,
  outputs: readonly AggregateOutput[],
): AggregateParts {
  const groups = query.groupBy.map((column) => dialect.quoted(column.name));
  const terms = [...groups, ...query.values.map((value) => valueSql(dialect, value))];
  const order = query.sort.map(({ output, dir }) => dialect.orderSql((outputs[output] as AggregateOutput).column, dir));
  return {
    list: outputs.map(({ column }, i) => `${terms[i]} AS ${dialect.quoted(column.name)}`).join(', '),
    groupBy: groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`,
    orderBy: order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`,
  };
}

function valueSql(dialect: SqlDialect, { fn, column }: AggregateValue): string {
  if (column === null) return 'count(*)';
  const name = dialect.quoted(column.name);
  if (fn === 'min' || fn === 'max') return dialect.extremeSql(fn, column);
  if (fn === 'sum') return dialect.sumSql(column);
  return fn === 'countDistinct' ? `count(DISTINCT ${name})` : `count(${name})`;
}

export function outputEncoder(dialect: SqlDialect, { column, value }: AggregateOutput): Encode {
  return value?.fn === 'sum' && column.type === 'float64' ? floatSumText : dialect.encoder(column);
}
