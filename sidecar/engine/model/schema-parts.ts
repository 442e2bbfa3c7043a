import { byName, MAIN_PART, type Part, type Schema, type Table } from '#protocol/schema.ts';

/** Owner of each thing in a namespace's schema: the name of a part, or `MAIN_PART` for what `schema.sync` declares. */
export interface Ownership {
  ofTable(table: string): string;
  /** For an owned table: its owner, unless another part has added the column. */
  ofColumn(table: string, column: string): string;
  ofIndex(table: string, index: string): string;
}

export function ownershipOf({ parts = [] }: Schema): Ownership {
  const tables = new Map<string, string>();
  const added = new Map<string, string>();
  for (const part of parts) {
    for (const table of part.tables) tables.set(table, part.name);
    for (const { table, columns, indexes } of part.extensions) {
      for (const column of columns) added.set(`column ${table}.${column}`, part.name);
      for (const index of indexes) added.set(`index ${table}.${index}`, part.name);
    }
  }
  const ofTable = (table: string): string => tables.get(table) ?? MAIN_PART;
  return {
    ofTable,
    ofColumn: (table, column) => added.get(`column ${table}.${column}`) ?? ofTable(table),
    ofIndex: (table, index) => added.get(`index ${table}.${index}`) ?? ofTable(table),
  };
}

/** The schema of these tables, each thing with its owner. Things that are not in the tables have no owner any more. */
export function ownedSchema(tables: readonly Table[], ownership: Ownership): Schema {
  const parts = new Map<string, { tables: string[]; extensions: Part['extensions'][number][] }>();
  const partOf = (name: string) => {
    const part = parts.get(name) ?? { tables: [], extensions: [] };
    parts.set(name, part);
    return part;
  };
  const sorted = tables.toSorted(byName);
  for (const table of sorted) {
    const owner = ownership.ofTable(table.name);
    if (owner !== MAIN_PART) partOf(owner).tables.push(table.name);
    for (const name of addingParts(table, ownership)) {
      const columns = table.columns.filter((column) => ownership.ofColumn(table.name, column.name) === name);
      const indexes = table.indexes.filter((index) => ownership.ofIndex(table.name, index.name) === name);
      const listed = { columns: columns.map((column) => column.name), indexes: indexes.map((index) => index.name) };
      partOf(name).extensions.push({ table: table.name, ...listed });
    }
  }
  if (parts.size === 0) return { tables: sorted };
  return { tables: sorted, parts: [...parts].map(([name, part]) => ({ name, ...part })).toSorted(byName) };
}

/** Parts that have added something to a table of another part. */
function addingParts(table: Table, ownership: Ownership): string[] {
  const names = new Set([
    ...table.columns.map(({ name }) => ownership.ofColumn(table.name, name)),
    ...table.indexes.map(({ name }) => ownership.ofIndex(table.name, name)),
  ]);
  return [...names].filter((name) => name !== MAIN_PART && name !== ownership.ofTable(table.name));
}

/** The schema with other tables: their things keep their parts, all else belongs to the main part. */
export function withTables(schema: Schema, tables: readonly Table[]): Schema {
  return ownedSchema(tables, ownershipOf(schema));
}

/**
 * The schema after a change that was done in part: new things belong to the intended part, the rest to the part before.
 */
export function settledSchema(tables: readonly Table[], from: Schema, to: Schema): Schema {
  const before = ownershipOf(from);
  const after = ownershipOf(to);
  const target = new Map(to.tables.map((table) => [table.name, table]));
  return ownedSchema(tables, {
    ofTable: (table) => (target.has(table) ? after : before).ofTable(table),
    ofColumn(table, column) {
      const isNew = target.get(table)?.columns.some(({ name }) => name === column) === true;
      return (isNew ? after : before).ofColumn(table, column);
    },
    ofIndex(table, index) {
      const isNew = target.get(table)?.indexes.some(({ name }) => name === index) === true;
      return (isNew ? after : before).ofIndex(table, index);
    },
  });
}

/** The schema of tables into which a thing has come back from quarantine: it belongs to the part that declared it. */
export function restoredSchema(
  tables: readonly Table[],
  before: Schema,
  back: { readonly table: string; readonly column: string | null },
  part = MAIN_PART,
): Schema {
  const others = ownershipOf(before);
  const isBack = (table: string, column: string | null): boolean => table === back.table && column === back.column;
  return ownedSchema(tables, {
    ...others,
    ofTable: (table) => (isBack(table, null) ? part : others.ofTable(table)),
    ofColumn(table, column) {
      if (isBack(table, column) || isBack(table, null)) return part;
      return others.ofColumn(table, column);
    },
    ofIndex: (table, index) => (isBack(table, null) ? part : others.ofIndex(table, index)),
  });
}
