import { type Document, Long } from 'mongodb';
import { generatorsOf, type SchemaWork } from './collections.ts';

/** Highest number ever used under the name of a physical table; 0 for none. */
export async function lastNumber(work: SchemaWork, physical: string, generator: 'ids' | 'rows'): Promise<bigint> {
  const given = await generatorsOf(work.db).findOne({ _id: physical }, work.time());
  return BigInt(String(given?.[generator] ?? 0));
}

/** Raises generators; never lowers one. */
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

/** The generator of the new name continues after all numbers used under either name; the old name keeps its own. */
export async function followGenerators(work: SchemaWork, before: string, after: string): Promise<void> {
  const given = await generatorsOf(work.db).findOne({ _id: before }, { promoteLongs: false, ...work.time() });
  if (given === null) return;
  const { ids, rows } = given;
  await raiseGenerator(work, after, {
    ...(ids === undefined ? {} : { ids: ids.toBigInt() }),
    ...(rows === undefined ? {} : { rows: rows.toBigInt() }),
  });
}

/** Not the name of a table. */
const QUARANTINE = '_quarantine';

/** First of `count` ids of kept objects. Ids of a change that is refused later are lost. */
export async function reserveQuarantineIds(work: SchemaWork, count: number): Promise<number> {
  const given = await generatorsOf(work.db).findOneAndUpdate(
    { _id: QUARANTINE },
    { $inc: { ids: Long.fromNumber(count) } },
    { upsert: true, returnDocument: 'after', ...work.time() },
  );
  return Number(given?.ids) - count + 1;
}
