import { Decimal128, type Document, Long } from 'mongodb';
import { physicalTable } from '#engine/model/physical-names.ts';
import { type ColumnCheck, columnChecks, repeatChecks } from '#engine/model/row-checks.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column } from '#protocol/columns.ts';
import { INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN } from '#protocol/limits.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { generatorsOf, type SchemaWork } from './collections.ts';
import { countRows } from './whole.ts';

const LAST_IDS: Partial<Record<Column['type'], bigint>> = { int32: BigInt(INT32_MAX), int64: INT64_MAX };

/** Faults of existing rows under the declared table, in plain words; empty if all rows fit. Reads only. */
export async function misfits(
  work: SchemaWork,
  namespace: string,
  change: TableTransition,
  now: number,
): Promise<string[]> {
  const physical = physicalTable(namespace, change.from.name);
  if ((await countRows(work, physical, {}, 1)) === 0) return [];
  const found: string[] = [];
  for (const check of columnChecks(namespace, change, now)) {
    const rows = await countRows(work, physical, conditionOf(check));
    if (rows > 0) found.push(check.fault(rows));
  }
  if (found.length > 0) return found;
  for (const { columns, fault } of repeatChecks(namespace, change, now)) {
    if (await hasRepeated(work, physical, columns)) found.push(fault);
  }
  return [...found, ...(await unnumbered(work, namespace, physical, change))];
}

/** Condition for the rows of a check. NULL is an absent field. */
function conditionOf(check: ColumnCheck): Document {
  switch (check.kind) {
    case 'null':
      return { [check.from.name]: { $exists: false } };
    case 'misfit':
      return misfitCondition(check.from.name, check.to);
    case 'unlisted':
      return { [check.from.name]: { $exists: true, $nin: check.values } };
    case 'row':
      return {};
    default:
      return check satisfies never;
  }
}

/** Condition for rows whose value does not fit. */
function misfitCondition(name: string, to: Column): Document {
  const field = `$${name}`;
  if (to.type === 'string') return { $expr: { $gt: [{ $strLenCP: { $ifNull: [field, ''] } }, Number(to.length)] } };
  const { low, high } = boundsOf(to);
  const scale = to.type === 'decimal' ? decimalScale(to) : 0;
  const hasMoreDigits = { $ne: [field, { $trunc: [field, scale] }] };
  const isOutside = { $or: [{ [name]: { $lt: low } }, { [name]: { $gt: high } }, { $expr: hasMoreDigits }] };
  return { $and: [{ [name]: { $exists: true } }, isOutside] };
}

/** Lowest and highest number of the column, of any type: numbers compare by value. */
function boundsOf(column: Column): { readonly low: Decimal128 | Long; readonly high: Decimal128 | Long } {
  if (column.type === 'int32') return { low: Long.fromNumber(INT32_MIN), high: Long.fromNumber(INT32_MAX) };
  if (column.type === 'int64') return { low: Long.fromBigInt(INT64_MIN), high: Long.fromBigInt(INT64_MAX) };
  const scale = decimalScale(column);
  const nines = '9'.repeat(decimalPrecision(column));
  return {
    low: Decimal128.fromString(`-${nines}E-${scale}`),
    high: Decimal128.fromString(`${nines}E-${scale}`),
  };
}

async function hasRepeated(work: SchemaWork, physical: string, columns: readonly string[]): Promise<boolean> {
  if (columns.length === 0) return (await countRows(work, physical, {}, 2)) > 1;
  const present = Object.fromEntries(columns.map((name) => [name, { $exists: true }]));
  const groups = Object.fromEntries(columns.map((name, position) => [`k${position}`, `$${name}`]));
  const pipeline = [
    { $match: present },
    { $group: { _id: groups, rows: { $sum: 1 } } },
    { $match: { rows: { $gt: 1 } } },
    { $limit: 1 },
  ];
  const found = await work.db
    .collection(physical)
    .aggregate(pipeline, { allowDiskUse: true, ...work.time() })
    .toArray();
  return found.length > 0;
}

/**
 * Fault if the generator of a new column has too few numbers for the rows: found before the change, not in its middle.
 */
async function unnumbered(
  work: SchemaWork,
  namespace: string,
  physical: string,
  { to, sources }: TableTransition,
): Promise<string[]> {
  const column = to.columns.find(({ autoIncrement, name }) => autoIncrement && !sources.has(name));
  const last = column === undefined ? undefined : LAST_IDS[column.type];
  if (column === undefined || last === undefined) return [];
  const names = [physical, physicalTable(namespace, to.name)];
  const generators = await generatorsOf(work.db)
    .find({ _id: { $in: names } }, { promoteLongs: false, ...work.time() })
    .toArray();
  const given = generators.reduce(
    (max, { ids }) => (ids !== undefined && ids.toBigInt() > max ? ids.toBigInt() : max),
    0n,
  );
  const rows = await countRows(work, physical, {});
  if (given + BigInt(rows) <= last) return [];
  return [`${namespace}.${to.name}.${column.name}: the generator has not enough numbers left for the rows`];
}
