import { ApiError } from '#protocol/errors.ts';
import type { JsonObject } from '#protocol/json.ts';
import { columnOf, findTable, parseSchema } from '#protocol/schema.ts';
import { MoveRefused } from '../moving/report.ts';
import { newNames } from './new-names.ts';
import type { Note, Proposal, Renames, TablePlan } from './proposal.ts';
import { type ProposedTable, proposeTable } from './propose-table.ts';
import type { SourceDatabase, SourceTable, TableFacts } from './source.ts';

/** A declared schema for `tables`, and everything that is not the same afterwards. Pure. */
export function propose(
  database: SourceDatabase,
  tables: readonly SourceTable[],
  facts: ReadonlyMap<string, TableFacts>,
): Proposal {
  const names = newNames(
    'table',
    tables.map((table) => table.name),
  );
  const proposed = tables.map((source) => {
    const read = facts.get(source.name);
    if (read === undefined) throw new Error(`table ${source.name} was not read`);
    return { source, ...proposeTable(source, names.get(source.name) ?? source.name, read) };
  });
  const declared: JsonObject = { tables: proposed.map(({ json }) => json) };
  const renames = renamesOf(names, proposed);
  return {
    ...planned(declared, renames, tables, facts),
    notes: [
      ...renamingNotes(renames),
      ...proposed.flatMap(({ notes }) => notes),
      ...databaseNotes(database, new Set(tables.map(({ name }) => name))),
    ],
  };
}

/** The ways of the rows for a schema that an owner may have changed. @throws MoveRefused if it does not fit together */
export function planned(
  declared: JsonObject,
  renames: Renames,
  tables: readonly SourceTable[],
  facts: ReadonlyMap<string, TableFacts>,
): Omit<Proposal, 'notes'> {
  const { schema } = readSchema(declared);
  const plans = tables.map((source): TablePlan => {
    const name = renamed(renames.tables, source.name);
    const own = Object.hasOwn(renames.columns, source.name) ? (renames.columns[source.name] ?? {}) : {};
    const table = findTable(schema, name);
    if (table === null) throw new MoveRefused(`the schema has no table ${name} for ${source.name}`);
    const columns = source.columns.map((column) => ({
      source: column,
      column: columnNamed(table, renamed(own, column.name)),
    }));
    const derived = columns.find(({ column }) => column.derived !== undefined);
    if (derived !== undefined) {
      throw new MoveRefused(
        `column ${name}.${derived.column.name} is derived and takes nothing; rename one of the two`,
      );
    }
    const filled = new Set(columns.map(({ column }) => column.name));
    const empty = table.columns.find((column) => !filled.has(column.name) && !column.nullable);
    if (empty !== undefined) {
      throw new MoveRefused(`column ${name}.${empty.name} is required, and no column of ${source.name} fills it`);
    }
    return { source, rows: facts.get(source.name)?.rows ?? 0, table, columns };
  });
  return { schema, declared, renames, plans };
}

/** Names come from the foreign database, and "constructor" is one. */
function renamed(names: Readonly<Record<string, string>>, name: string): string {
  return (Object.hasOwn(names, name) ? names[name] : undefined) ?? name;
}

function readSchema(declared: JsonObject) {
  try {
    return parseSchema(declared);
  } catch (error) {
    if (error instanceof ApiError) throw new MoveRefused(`the proposed schema cannot be declared: ${error.message}`);
    throw error;
  }
}

function columnNamed(table: Parameters<typeof columnOf>[0], name: string) {
  try {
    return columnOf(table, name, table.name);
  } catch {
    throw new MoveRefused(`the schema has no column ${table.name}.${name}; add it, or its renaming`);
  }
}

function renamesOf(
  names: ReadonlyMap<string, string>,
  proposed: readonly (ProposedTable & { readonly source: SourceTable })[],
): Renames {
  const changed = (all: ReadonlyMap<string, string>) =>
    Object.fromEntries([...all].filter(([old, fresh]) => old !== fresh));
  const columns = proposed.map((table): [string, Record<string, string>] => [table.source.name, changed(table.names)]);
  return {
    tables: changed(names),
    columns: Object.fromEntries(columns.filter(([, own]) => Object.keys(own).length > 0)),
  };
}

function renamingNotes({ tables, columns }: Renames): Note[] {
  return [
    ...Object.entries(tables).map(([table, fresh]) => ({ table, column: null, text: `is called ${fresh} here` })),
    ...Object.entries(columns).flatMap(([table, own]) =>
      Object.entries(own).map(([column, fresh]) => ({ table, column, text: `is called ${fresh} here` })),
    ),
  ];
}

function databaseNotes(database: SourceDatabase, chosen: ReadonlySet<string>): Note[] {
  const notes: Note[] = [];
  const of = (table: string | null, text: string): unknown => notes.push({ table, column: null, text });
  for (const key of database.foreignKeys.filter(({ table }) => chosen.has(table))) {
    const target = `${key.otherTable} (${key.otherColumns.join(', ')})`;
    const acts = [
      ...(isActive(key.onDelete) ? [`ON DELETE ${key.onDelete}`] : []),
      ...(isActive(key.onUpdate) ? [`ON UPDATE ${key.onUpdate}`] : []),
    ];
    const lost = acts.length === 0 ? '' : `; nor does ${acts.join(' or ')} happen: scripts do it`;
    of(key.table, `foreign key ${key.columns.join(', ')} → ${target}: not checked any more${lost}`);
  }
  for (const { name, table, event } of database.triggers.filter((trigger) => chosen.has(trigger.table))) {
    of(table, `trigger ${name} (${event}): does not run any more; scripts do its work`);
  }
  if (database.views.length > 0) of(null, `views are not carried over: ${database.views.join(', ')}`);
  if (database.routines.length > 0) of(null, `not carried over: ${database.routines.join(', ')}`);
  of(null, 'text is compared by its bytes: case, accents and trailing spaces count, which MySQL mostly ignores');
  if (!database.isStrict) {
    of(
      null,
      'the server is not strict: what a script leaves out of a row, or what is too long, is an error here; there it became an empty text, 0, or was cut',
    );
  }
  return notes;
}

function isActive(rule: string): boolean {
  return rule !== 'RESTRICT' && rule !== 'NO ACTION';
}
