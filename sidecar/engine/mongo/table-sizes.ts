import { type TableSize, unknownSize } from '../engine.ts';
import { physicalTable } from '../model/physical-names.ts';
import type { MongoSession } from './session.ts';

/** A collection nobody has written to yet may not exist. */
export async function tableSizes(
  session: MongoSession,
  namespace: string,
  tables: readonly string[],
): Promise<TableSize[]> {
  const sizes: TableSize[] = [];
  for (const table of tables) {
    sizes.push(
      await session.look(async (db, time) => {
        const stats = await db.command({ collStats: physicalTable(namespace, table) }, time);
        const bytes = Number(stats.totalSize ?? Number(stats.storageSize) + Number(stats.totalIndexSize));
        if (!Number.isFinite(Number(stats.count))) return unknownSize(table);
        return {
          table,
          rows: Number(stats.count),
          isEstimate: true,
          bytes: Number.isFinite(bytes) ? bytes : null,
        };
      }),
    );
  }
  return sizes;
}
