import { Decimal128, type Document } from 'mongodb';
import type { Column } from '#protocol/columns.ts';
import { decimalOf, floorToScale, plainText, scaledText } from '#protocol/decimal.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { writeValue } from '#protocol/values.ts';
import { type AggregateOutput, floatSumText, outputsOf } from '../model/aggregate.ts';
import { PageBuilder, RowWriter } from '../model/page.ts';
import type { AggregateQuery, AggregateValue, Page, TableTarget } from '../rows.ts';
import { collectionOf, fieldOf, fromBson, valueIn } from './documents.ts';
import { MAX_SKIP, matchOf } from './read.ts';
import type { MongoSession } from './session.ts';

/** The server sorts the groups and returns no more of them than the page needs. */
export function aggregate(session: MongoSession, target: TableTarget, query: AggregateQuery): Promise<Page> {
  const outputs = outputsOf(query);
  const writer = new RowWriter(
    outputs.map((output) => ({ name: output.name, encode: (value) => textOf(output, value) })),
  );
  const stages = pipelineOf(query, outputs);
  return session.look(async (db, time) => {
    const page = new PageBuilder(query.limit, query.maxBytes);
    const options = { allowDiskUse: true, batchSize: query.limit + 2, ...time };
    const cursor = db.collection(collectionOf(target)).aggregate(stages, options);
    let isEmpty = true;
    try {
      for (let found = await cursor.next(); found !== null; found = await cursor.next()) {
        const group = found;
        isEmpty = false;
        if (!page.add(() => writer.write(outputs.map(({ column }) => valueIn(group, column.name) ?? null)))) break;
      }
    } finally {
      // This only tells the server to forget the cursor; do not wait for it.
      cursor.close().catch(() => {});
    }
    // The server makes no group of no documents.
    if (isEmpty && query.groupBy.length === 0 && query.offset === 0) {
      page.add(() => writer.write(outputs.map(({ value }) => (value?.fn.startsWith('count') ? 0 : null))));
    }
    return page.page();
  });
}

function pipelineOf(query: AggregateQuery, outputs: readonly AggregateOutput[]): Document[] {
  const keys = query.groupBy.map(({ name }, i) => [`g${i}`, { $ifNull: [`$${fieldOf(name)}`, null] }] as const);
  const parts = outputs.map((output, i) => partOf(output, i));
  const sort = query.sort.flatMap(({ output, dir }) => {
    const { name } = (outputs[output] as AggregateOutput).column;
    // In a sum of two parts the higher one decides.
    const names = parts[output]?.isSplit === true ? [`${name}.high`, `${name}.low`] : [name];
    return names.map((each) => [each, dir === 'asc' ? 1 : -1] as const);
  });
  return [
    { $match: matchOf(query.filter) },
    {
      $group: {
        _id: keys.length === 0 ? null : Object.fromEntries(keys),
        ...Object.assign({}, ...parts.map(({ collect }) => collect)),
      },
    },
    { $project: { _id: 0, ...Object.fromEntries(outputs.map(({ column }, i) => [column.name, parts[i]?.read])) } },
    ...(sort.length === 0 ? [] : [{ $sort: Object.fromEntries(sort) }]),
    ...(query.offset === 0 ? [] : [{ $skip: Math.min(query.offset, MAX_SKIP) }]),
    { $limit: query.limit + 1 },
  ];
}

/** How an output is collected from the documents of a group, and how it is read after that. */
interface Part {
  readonly collect: Document;
  readonly read: unknown;
  readonly isSplit?: boolean;
}

function partOf({ column: { name }, value }: AggregateOutput, position: number): Part {
  if (value === null) return { collect: {}, read: `$_id.g${position}` };
  // Some places of a pipeline give a dollar sign or an underscore at the beginning a meaning.
  const at = `v${position}`;
  const { fn, column } = value;
  if (column === null) return { collect: { [at]: { $sum: 1 } }, read: `$${at}` };
  const field = `$${fieldOf(column.name)}`;
  const isThere = { $cond: [{ $eq: [{ $ifNull: [field, null] }, null] }, 0, 1] };
  switch (fn) {
    case 'count':
      return { collect: { [at]: { $sum: isThere } }, read: `$${at}` };
    case 'countDistinct':
      return {
        collect: { [at]: { $addToSet: { $ifNull: [field, null] } } },
        read: { $size: { $setDifference: [`$${at}`, [null]] } },
      };
    case 'min':
    case 'max':
      return { collect: { [at]: { [`$${fn}`]: field } }, read: `$${at}` };
    case 'sum': {
      const count = `${at}n`;
      const { collect, read, isSplit = false } = sumPart(column, field, at);
      const isNone = { $eq: [`$${count}`, 0] };
      return { collect: { ...collect, [count]: { $sum: isThere } }, read: { $cond: [isNone, null, read] }, isSplit };
    }
    default:
      throw new Error(`${name}: ${fn satisfies never}`);
  }
}

/** Decimals of the server have 34 digits: the digits of a value, and these for the number of rows in a sum. */
const ROW_DIGITS = 10;
const MAX_DIGITS = 34;
const LOW_DIGITS = 17;

/**
 * Sums are decimals, because integers of the server become doubles on overflow. Long decimals are summed in two parts.
 */
function sumPart(column: Column, field: string, at: string): Part {
  if (column.type === 'float64') return { collect: { [at]: { $sum: field } }, read: `$${at}` };
  if (column.type !== 'decimal') return { collect: { [at]: { $sum: { $toDecimal: field } } }, read: `$${at}` };
  if (decimalPrecision(column) + ROW_DIGITS <= MAX_DIGITS) {
    return { collect: { [at]: { $sum: field } }, read: `$${at}` };
  }
  const unit = Decimal128.fromString(`1E${LOW_DIGITS - decimalScale(column)}`);
  const high = { $trunc: { $divide: [field, unit] } };
  const low = { $subtract: [field, { $multiply: [high, unit] }] };
  const carry = { $floor: { $divide: [`$${at}l`, unit] } };
  return {
    collect: { [`${at}h`]: { $sum: high }, [`${at}l`]: { $sum: low } },
    read: {
      high: { $add: [`$${at}h`, carry] },
      low: { $subtract: [`$${at}l`, { $multiply: [carry, unit] }] },
    },
    isSplit: true,
  };
}

function textOf({ column, value }: AggregateOutput, found: unknown): string {
  if (value?.fn.startsWith('count')) return String(found);
  if (value?.fn !== 'sum') return writeValue(column, fromBson(column, found));
  if (column.type === 'float64') return floatSumText(found);
  return sumText(value, column, found);
}

function sumText({ column: summed }: AggregateValue, { scale = 0 }: Column, found: unknown): string {
  if (found instanceof Decimal128 || summed === null || typeof found !== 'object') {
    return plainText(decimalOf(String(found)));
  }
  const { high, low } = found as { readonly high: Decimal128; readonly low: Decimal128 };
  const highUnits = floorToScale(decimalOf(String(high)), 0).scaled * 10n ** BigInt(LOW_DIGITS);
  return scaledText(highUnits + floorToScale(decimalOf(String(low)), scale).scaled, scale);
}
