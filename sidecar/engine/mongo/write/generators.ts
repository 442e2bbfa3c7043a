import { type Collection, type Document, Long } from 'mongodb';
import { HIDDEN_ID, physicalTable } from '#engine/model/physical-names.ts';
import type { TableTarget } from '#engine/rows.ts';
import { INT32_MAX, INT64_MAX } from '#protocol/limits.ts';
import { failureOf } from '../failures.ts';
import { type GeneratorDocument, generatorsOf } from '../schema/collections.ts';
import type { CallTime, MongoSession } from '../session.ts';

/** Generator of the row numbers of a table: an autoIncrement column, or the order of insertion if there is no key. */
export interface Generator {
  readonly id: string;
  readonly field: 'ids' | 'rows';
  /** Column of the row; null for the order of insertion, which no row names. */
  readonly column: string | null;
  readonly max: bigint;
}

/** Null if rows have their numbers: in a table with another key, and in quarantine. */
export function generatorOf({ namespace, table, physical }: TableTarget): Generator | null {
  if (physical !== undefined) return null;
  const id = physicalTable(namespace, table.name);
  const generated = table.columns.find((column) => column.autoIncrement);
  if (generated !== undefined) {
    const max = generated.type === 'int32' ? BigInt(INT32_MAX) : INT64_MAX;
    return { id, field: generated.name === HIDDEN_ID ? 'rows' : 'ids', column: generated.name, max };
  }
  return table.primaryKey === undefined ? { id, field: 'rows', column: null, max: INT64_MAX } : null;
}

/**
 * Highest number that is known to be used, so that not every explicit number asks the database. Generators never go
 * back.
 */
export type KnownNumbers = Map<string, bigint>;

/**
 * Numbers for rows in their order; null in `wanted` asks for a new one. An explicit number moves the generator past it.
 * Returns fewer numbers if the generator reaches its end. A crash after this leaves a gap.
 */
export async function drawNumbers(
  session: MongoSession,
  generator: Generator,
  wanted: readonly (bigint | null)[],
  known: KnownNumbers,
): Promise<bigint[]> {
  const given = wanted.filter((number) => number !== null);
  if (given.length === wanted.length) {
    await raise(session, generator, given, known);
    return given;
  }
  if (given.length > 0) return drawAround(session, generator, wanted);
  const count = BigInt(wanted.length);
  const last = await advance(session, generator, count);
  if (last === null) return drawAround(session, generator, wanted);
  return wanted.map((_, i) => last - count + 1n + BigInt(i));
}

async function raise(
  session: MongoSession,
  { id, field }: Generator,
  given: readonly bigint[],
  known: KnownNumbers,
): Promise<void> {
  let highest = 0n;
  for (const number of given) if (number > highest) highest = number;
  const key = `${id} ${field}`;
  if (highest <= (known.get(key) ?? 0n)) return;
  await ensured(session, id, (generators, time) =>
    generators.updateOne({ _id: id }, { $max: { [field]: Long.fromBigInt(highest) } }, time),
  );
  known.set(key, highest);
}

/** Last of `count` consecutive numbers; null if there are not so many. */
async function advance(session: MongoSession, { id, field, max }: Generator, count: bigint): Promise<bigint | null> {
  const hasRoom = { _id: id, [field]: { $not: { $gt: Long.fromBigInt(max - count) } } };
  for (let isMade = false; ; isMade = true) {
    const found = await session.send((db, time) =>
      generatorsOf(db).findOneAndUpdate(
        hasRoom,
        { $inc: { [field]: Long.fromBigInt(count) } },
        { returnDocument: 'after', ...time },
      ),
    );
    const last = found?.[field];
    if (last !== undefined) return last.toBigInt();
    if (isMade) return null;
    await make(session, id);
  }
}

/** Makes each number in the order of its row, past the explicit numbers before it. */
async function drawAround(
  session: MongoSession,
  { id, field, max }: Generator,
  wanted: readonly (bigint | null)[],
): Promise<bigint[]> {
  for (;;) {
    const found = await session.look((db, time) => generatorsOf(db).findOne({ _id: id }, time));
    if (found === null) await make(session, id);
    const before = found?.[field];
    let last = before?.toBigInt() ?? 0n;
    const numbers: bigint[] = [];
    for (const number of wanted) {
      if (number === null && last >= max) break;
      last = number === null ? last + 1n : number > last ? number : last;
      numbers.push(number ?? last);
    }
    const unchanged = { _id: id, [field]: before ?? { $exists: false } } as Document;
    const { matchedCount } = await session.send((db, time) =>
      generatorsOf(db).updateOne(unchanged, { $set: { [field]: Long.fromBigInt(last) } }, time),
    );
    if (matchedCount === 1) return numbers;
  }
}

/** Runs a change of a generator, and creates the generator first if it is missing. */
async function ensured(
  session: MongoSession,
  id: string,
  change: (generators: Collection<GeneratorDocument>, time: CallTime) => Promise<{ readonly matchedCount: number }>,
): Promise<void> {
  const run = () => session.send((db, time) => change(generatorsOf(db), time));
  if ((await run()).matchedCount > 0) return;
  await make(session, id);
  await run();
}

async function make(session: MongoSession, id: string): Promise<void> {
  try {
    await session.send((db, time) => generatorsOf(db).insertOne({ _id: id }, time));
  } catch (error) {
    if (failureOf(error).kind !== 'duplicate') throw error;
  }
}
