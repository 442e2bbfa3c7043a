import type { RandomSource } from './random-source.ts';
import type { ModelAggregate, ModelFilter, ModelTable, Step } from './types.ts';

const UNGROUPED = ['text', 'json', 'bytes'];
/** Doubles are left out: their sums depend on the order in which they are added. */
const EXACT = ['int32', 'int64', 'decimal'];
const NAMES = ['total', 'v1', 'v2', 'sum', 'count', 'n', 'c'];
/** Percentage of requests that must be refused. */
const WRONG = 4;

export function aggregateOf(random: RandomSource, table: ModelTable, filter: ModelFilter | null): Step {
  const isOdd = random.chance(WRONG);
  const all = table.columns.map((column) => column.name);
  const grouped = table.columns.filter(({ type }) => isOdd || !UNGROUPED.includes(type)).map(({ name }) => name);
  const groupBy = random.some(grouped, 0, random.chance(70) ? 2 : 4);
  const free = NAMES.filter((name) => isOdd || !groupBy.includes(name));
  const atLeast = groupBy.length > 0 || isOdd ? 0 : 1;
  const values = random.some(free, atLeast, 4).map((as) => randomValue(random, table, as, isOdd));
  const sortable = isOdd ? [...all, ...NAMES] : [...groupBy, ...values.map(({ as }) => as)];
  return {
    ...{ op: 'aggregate', table: table.name, filter, groupBy, values },
    sort: random.chance(60)
      ? [...new Set(random.some(sortable, 0, 3))].map((field) => ({
          field,
          dir: random.pick(['asc', 'desc'] as const),
        }))
      : [],
    limit: random.chance(25) ? random.pick([0, 1, 2, 5]) : null,
    offset: random.chance(15) ? random.pick([1, 2]) : 0,
  };
}

function randomValue(random: RandomSource, table: ModelTable, as: string, isOdd: boolean): ModelAggregate {
  const fn = random.pick(['count', 'countDistinct', 'sum', 'sum', 'min', 'max'] as const);
  const fitting = table.columns.filter(({ type }) => {
    if (fn === 'sum') return EXACT.includes(type) || (isOdd && type !== 'float64');
    return fn === 'count' || isOdd || !UNGROUPED.includes(type);
  });
  if (fitting.length === 0 || (fn === 'count' && random.chance(50))) return { as, fn: 'count', field: null };
  return { as, fn, field: random.pick(fitting).name };
}
