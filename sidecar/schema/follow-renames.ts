import type { Renames, Table } from '#protocol/schema.ts';
import { ownsTable, type PartView } from './parts.ts';
import { followed } from './plan.ts';

/**
 * Those that can be done: what a part has not declared itself it does not rename, so that for it the old name does not
 * exist. Where old and new name both exist the plan refuses.
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

/** What a part has added to tables of others, by the names that those get now. */
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
