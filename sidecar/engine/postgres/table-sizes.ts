import { type TableSize, unknownSize } from '../engine.ts';
import { physicalTable } from '../model/physical-names.ts';
import type { Session } from '../sql/session.ts';
import { arrayLiteral } from './array-literal.ts';

/** `reltuples` is -1 where the table was never analysed. */
const SIZES = `
  SELECT relname, reltuples::bigint, pg_total_relation_size(oid) FROM pg_class
  WHERE relname = ANY($1) AND relkind = 'r' AND pg_table_is_visible(oid)`;

export async function tableSizes(session: Session, namespace: string, tables: readonly string[]): Promise<TableSize[]> {
  const names = tables.map((table) => physicalTable(namespace, table));
  const { rows } = await session.prepared(SIZES, [arrayLiteral(names)]);
  const byName = new Map(rows.map(([name, estimate, bytes]) => [String(name), { estimate, bytes }]));
  return tables.map((table) => {
    const found = byName.get(physicalTable(namespace, table));
    if (found === undefined) return unknownSize(table);
    const estimate = Number(found.estimate);
    return { table, rows: estimate < 0 ? null : estimate, isEstimate: true, bytes: Number(found.bytes) };
  });
}
