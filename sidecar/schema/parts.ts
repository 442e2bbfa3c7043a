import { byName, findTable, MAIN_PART, type Schema, type Table } from '#protocol/schema.ts';
import { ownershipOf } from '../engine/model/schema-parts.ts';

/** What one part has declared of a namespace's schema. */
export interface PartView {
  /** Tables of its own, without what others have added to them. */
  readonly own: readonly Table[];
  /** What it has added to tables of others: its columns and indexes alone. */
  readonly added: readonly Table[];
}

/** Of a stored schema, `MAIN_PART` first, the others by name. */
export function partViews(schema: Schema): Map<string, PartView> {
  const names = [MAIN_PART, ...(schema.parts ?? []).map((part) => part.name)];
  return new Map(names.map((name) => [name, partView(schema, name)]));
}

/** What the part has declared, as a schema of its own; null where it has declared nothing. */
export function declarationOf(schema: Schema, part: string): Schema | null {
  const view = partView(schema, part);
  const tables = [...view.own, ...view.added].toSorted(byName);
  return tables.length === 0 ? null : { tables };
}

function partView(schema: Schema, part: string): PartView {
  const ownership = ownershipOf(schema);
  const own: Table[] = [];
  const added: Table[] = [];
  for (const table of schema.tables) {
    const { primaryKey, ...rest } = table;
    const columns = table.columns.filter(({ name }) => ownership.ofColumn(table.name, name) === part);
    const indexes = table.indexes.filter(({ name }) => ownership.ofIndex(table.name, name) === part);
    if (ownership.ofTable(table.name) === part) own.push({ ...table, columns, indexes });
    else if (columns.length + indexes.length > 0) added.push({ ...rest, columns, indexes });
  }
  return { own, added };
}

export function ownsTable(view: PartView, table: string): boolean {
  return findTable({ tables: view.own }, table) !== null;
}
