import { byName, findTable, MAIN_PART, type Renames, type Schema, type Table } from '#protocol/schema.ts';
import { ownershipOf } from '../engine/model/schema-parts.ts';
import { followed } from './plan.ts';

/** The declaration of one part of a namespace's schema. */
export interface PartView {
  /** Tables of its own, without the columns and indexes that other parts have added. */
  readonly own: readonly Table[];
  /** Tables of other parts, with only the columns and indexes that this part has added. */
  readonly added: readonly Table[];
}

/** Parts of a stored schema: `MAIN_PART` first, the others by name. */
export function partViews(schema: Schema): Map<string, PartView> {
  const names = [MAIN_PART, ...(schema.parts ?? []).map((part) => part.name)];
  return new Map(names.map((name) => [name, partView(schema, name)]));
}

/** The declaration of the part, as a schema of its own; null if it has declared nothing. */
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

/**
 * Renames that can be done: a part does not rename tables and columns that it has not declared itself, so for it the old
 * name does not exist. If old and new name both exist, the plan refuses.
 */
export function ownRenames({ tables, columns }: Renames, { own, added }: PartView): Renames {
  const stored = new Map([...own, ...added].map((table) => [table.name, table]));
  const tableRenames = new Map([...tables].filter(([, old]) => own.some(({ name }) => name === old)));
  const columnRenames = new Map<string, ReadonlyMap<string, string>>();
  for (const [table, renamed] of columns) {
    const before = stored.get(tableRenames.get(table) ?? table) ?? stored.get(table);
    const known = [...renamed].filter(([, old]) => before?.columns.some(({ name }) => name === old) === true);
    if (known.length > 0) columnRenames.set(table, new Map(known));
  }
  return { tables: tableRenames, columns: columnRenames };
}

/** Follows the renames of another part in the tables to which this part has added columns and indexes. */
export function followRenames(view: PartView, { tables, columns }: Renames, renaming: PartView): PartView {
  const newTables = new Map(
    [...tables].filter(([name]) => !ownsTable(renaming, name)).map(([name, old]) => [old, name]),
  );
  const added = view.added.map((table) => {
    const name = newTables.get(table.name) ?? table.name;
    return followColumns({ ...table, name }, new Map([...(columns.get(name) ?? [])].map(([now, old]) => [old, now])));
  });
  return { own: view.own, added };
}

function followColumns(table: Table, newNames: ReadonlyMap<string, string>): Table {
  const indexes = table.indexes.map((index) => ({
    ...index,
    columns: index.columns.map((name) => newNames.get(name) ?? name),
  }));
  return { ...table, columns: table.columns.map((column) => followed(column, newNames)), indexes };
}
