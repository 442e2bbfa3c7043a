import { type TableSize, unknownSize } from '../engine.ts';
import { physicalTable } from '../model/physical-names.ts';
import type { Session } from '../sql/session.ts';

/** Names of the information schema come in the letter case that the server likes: columns are taken by place. */
export async function tableSizes(session: Session, namespace: string, tables: readonly string[]): Promise<TableSize[]> {
  if (tables.length === 0) return [];
  const names = tables.map((table) => physicalTable(namespace, table));
  const sql = `
    SELECT table_name, table_rows, data_length + index_length FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name IN (${names.map(() => '?').join(', ')})`;
  const { rows } = await session.query(sql, names);
  const byName = new Map(rows.map(([name, estimate, bytes]) => [String(name), { estimate, bytes }]));
  return tables.map((table) => {
    const found = byName.get(physicalTable(namespace, table));
    if (found === undefined) return unknownSize(table);
    return { table, rows: countOf(found.estimate), isEstimate: true, bytes: countOf(found.bytes) };
  });
}

function countOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
