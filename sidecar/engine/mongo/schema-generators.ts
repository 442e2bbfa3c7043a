import { type Document, Long } from 'mongodb';
import { generatorsOf, type SchemaWork } from './schema-collections.ts';

/** The first of `count` numbers under a physical table's name that were never given. */
export async function reserveNumbers(
  work: SchemaWork,
  physical: string,
  generator: 'ids' | 'rows',
  count: number,
): Promise<bigint> {
  const given = await generatorsOf(work.db).findOneAndUpdate(
    { _id: physical },
    { $inc: { [generator]: Long.fromNumber(count) } as Document },
    { upsert: true, returnDocument: 'after', promoteLongs: false, ...work.time() },
  );
  const last = given?.[generator];
  if (last === undefined) throw new Error(`the generator of ${physical} answered nothing`);
  return last.toBigInt() - BigInt(count) + 1n;
}

/** Never lowers one. */
export async function raiseGenerator(
  work: SchemaWork,
  physical: string,
  last: { readonly ids?: bigint; readonly rows?: bigint },
): Promise<void> {
  const numbers = Object.entries(last).map(([generator, number]) => [generator, Long.fromBigInt(number)]);
  if (numbers.length === 0) return;
  const update = { $max: Object.fromEntries(numbers) as Document };
  await generatorsOf(work.db).updateOne({ _id: physical }, update, { upsert: true, ...work.time() });
}

/** The generator of a table's new name knows all that was ever given under either name; the old name keeps its own. */
export async function followGenerators(work: SchemaWork, before: string, after: string): Promise<void> {
  const given = await generatorsOf(work.db).findOne({ _id: before }, { promoteLongs: false, ...work.time() });
  if (given === null) return;
  const { ids, rows } = given;
  await raiseGenerator(work, after, {
    ...(ids === undefined ? {} : { ids: ids.toBigInt() }),
    ...(rows === undefined ? {} : { rows: rows.toBigInt() }),
  });
}

/** No name of a table. */
const QUARANTINE = '_quarantine';

/** The first of `count` ids of kept objects. Those of a change that is refused after all are lost. */
export async function reserveQuarantineIds(work: SchemaWork, count: number): Promise<number> {
  return Number(await reserveNumbers(work, QUARANTINE, 'ids', count));
}
