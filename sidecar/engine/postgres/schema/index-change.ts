import { type PhysicalIndex, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { dropIndex } from '#engine/sql/schema/tables.ts';
import type { Table } from '#protocol/schema.ts';
import { nullableColumns, renameIndexSql } from './ddl.ts';

/**
 * Drops the indexes that the declared table does not have, renames the others, and returns their new names. Only touches
 * indexes of the stored schema: an owner may have made more.
 */
export async function carryIndexes(
  connection: SchemaConnection,
  namespace: string,
  { from, to, sources }: TableTransition,
): Promise<Set<string>> {
  const stored = physicalIndexes(physicalTable(namespace, from.name), from);
  const taken = new Set(stored.map(({ name }) => name));
  const wanted = new Map<string, PhysicalIndex>();
  for (const index of physicalIndexes(physicalTable(namespace, to.name), to)) {
    const before = stored.find((old) => {
      // An index may get another name if no other index had it before.
      const isFree = old.name === index.name || !taken.has(index.name);
      return isFree && formText(old, from) === formText(index, to, (name) => sources.get(name)?.name ?? '');
    });
    if (before !== undefined) wanted.set(before.name, index);
  }
  for (const { name } of stored) {
    if (!wanted.has(name)) await dropIndex(connection, name);
  }
  for (const [name, index] of wanted) {
    if (name !== index.name) await connection.run(renameIndexSql(name, index.name));
  }
  return new Set([...wanted.values()].map(({ name }) => name));
}

/** Two indexes with the same text hold the same, in the same order. */
function formText({ columns, unique }: PhysicalIndex, table: Table, storedName = (name: string) => name): string {
  const nullable = nullableColumns(table);
  const parts = columns.map((name) => `${storedName(name)} ${nullable.has(name)}`);
  return `${unique} ${parts.join(', ')}`;
}
