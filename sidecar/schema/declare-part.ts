import { ApiError } from '#protocol/errors.ts';
import {
  byName,
  type DeclaredSchema,
  findTable,
  isExtension,
  isOptional,
  MAIN_PART,
  parseSchema,
  type Renames,
  type Schema,
  schemaToJson,
  type Table,
} from '#protocol/schema.ts';
import { ownedSchema } from '../engine/model/schema-parts.ts';
import { followRenames, ownRenames, ownsTable, type PartView, partViews } from './parts.ts';

/** The whole schema of a namespace after one part is declared again. */
export interface PartDeclared {
  readonly schema: Schema;
  /** Renames of the part that can be done. */
  readonly renames: Renames;
}

/**
 * Puts the declaration of one part in the place of its earlier one; what others have declared stays, by new names where
 * the part renames what they extend. Pure.
 * @throws ApiError `unknown_table`, `unknown_column` for what the part extends and nobody has declared yet,
 * `unsupported_change` where others are in the way, `invalid_schema` for what a part may not do to tables of others.
 */
export function declarePart(
  stored: Schema | null,
  part: string,
  { schema, renames: wanted }: DeclaredSchema,
): PartDeclared {
  const views = partViews(stored ?? { tables: [] });
  const before = views.get(part) ?? { own: [], added: [] };
  const renames = ownRenames(wanted, before);
  for (const [name, view] of views) views.set(name, followRenames(view, renames, before));
  views.delete(part);
  const view = place(part, schema.tables, before, renames, views);
  views.set(part, view);
  const merged = merge(views, part);
  const lacking = lackingColumn(merged, view);
  if (lacking !== null) throw lacking;
  checkWhole(merged, views, part);
  return { schema: merged, renames };
}

/** Which of the declared tables are the part's own, and which are somebody else's. */
function place(
  part: string,
  tables: readonly Table[],
  before: PartView,
  renames: Renames,
  others: ReadonlyMap<string, PartView>,
): PartView {
  const own: Table[] = [];
  const added: Table[] = [];
  let lacking: ApiError | null = null;
  for (const table of tables) {
    const owner = [...others].find(([, view]) => ownsTable(view, table.name))?.[0];
    if (owner !== undefined) {
      checkExtension(part, table, owner, others.get(owner));
      added.push(table);
    } else if (isOwn(part, table, before, renames)) {
      own.push(table);
    } else {
      lacking ??= lackingTable(part, table);
    }
  }
  if (lacking !== null) throw lacking;
  return { own, added };
}

function isOwn(part: string, table: Table, before: PartView, renames: Renames): boolean {
  if (part === MAIN_PART || !isExtension(table)) return true;
  return table.columns.length > 0 && (ownsTable(before, table.name) || renames.tables.has(table.name));
}

/** Refuses declarations that a part may not make on another part's table (contract section 11). */
function checkExtension(part: string, table: Table, owner: string, view: PartView | undefined): void {
  const theirs = findTable({ tables: view?.own ?? [] }, table.name);
  if (part === MAIN_PART) throw unsupported(`table ${table.name} is declared by ${partName(owner)} as its own`);
  const twice = table.columns.find(({ name }) => theirs?.columns.some((column) => column.name === name));
  if (twice !== undefined) {
    throw unsupported(`column ${table.name}.${twice.name} is declared by ${partName(owner)} already`);
  }
  const whose = `the table is ${ownedBy(owner)}`;
  if (table.primaryKey !== undefined) {
    throw new ApiError(
      'invalid_schema',
      `table ${table.name}.primaryKey: ${whose}, so that another part declares none`,
    );
  }
  const required = table.columns.find((column) => !isOptional(column));
  if (required !== undefined) {
    const reason = `${whose}, so that a column which another part adds must be nullable or have a default`;
    throw new ApiError('invalid_schema', `column ${table.name}.${required.name}: ${reason}`);
  }
}

/** Owners' columns first, in their order, then those of each part that adds some. */
function merge(views: ReadonlyMap<string, PartView>, declaring: string): Schema {
  const owners = new Map<string, string>();
  const tables = new Map<string, Table>();
  const parts = [...views].toSorted(([a], [b]) => order(a, b));
  for (const [part, { own }] of parts) {
    for (const table of own) {
      tables.set(table.name, table);
      owners.set(`table ${table.name}`, part);
      for (const thing of thingsOf(table)) owners.set(thing, part);
    }
  }
  for (const [part, { added }] of parts) {
    for (const table of added) {
      const base = tables.get(table.name);
      if (base === undefined) throw unsupported(`table ${table.name} cannot be given up: ${partName(part)} extends it`);
      for (const thing of thingsOf(table)) claim(owners, thing, part, declaring);
      const columns = [...base.columns, ...table.columns];
      tables.set(table.name, { ...base, columns, indexes: [...base.indexes, ...table.indexes].toSorted(byName) });
    }
  }
  const ownerOf = (thing: string): string => owners.get(thing) ?? MAIN_PART;
  return ownedSchema([...tables.values()], {
    ofTable: (table) => ownerOf(`table ${table}`),
    ofColumn: (table, column) => ownerOf(`column ${table}.${column}`),
    ofIndex: (table, index) => ownerOf(`index ${table}.${index}`),
  });
}

function order(a: string, b: string): number {
  if (a === MAIN_PART || b === MAIN_PART) return a === b ? 0 : a === MAIN_PART ? -1 : 1;
  return a < b ? -1 : 1;
}

function thingsOf(table: Table): string[] {
  return [
    ...table.columns.map(({ name }) => `column ${table.name}.${name}`),
    ...table.indexes.map(({ name }) => `index ${table.name}.${name}`),
  ];
}

function claim(owners: Map<string, string>, thing: string, part: string, declaring: string): void {
  const owner = owners.get(thing);
  if (owner !== undefined) {
    throw unsupported(`${thing} is declared by ${partName(owner === declaring ? part : owner)} already`);
  }
  owners.set(thing, part);
}

function lackingTable(part: string, { name }: Table): ApiError {
  const own = `if it is to be a table of part ${part} itself, give it a primaryKey or a required column`;
  return new ApiError('unknown_table', `table ${name}: no part has declared it that this one could extend; ${own}`);
}

/** A column that something on a table of others is made from, and that nobody has declared. */
function lackingColumn(merged: Schema, { added }: PartView): ApiError | null {
  for (const table of added) {
    const declared = findTable(merged, table.name)?.columns ?? [];
    for (const [column, use] of neededColumns(table)) {
      if (declared.some(({ name }) => name === column)) continue;
      return new ApiError('unknown_column', `column ${table.name}.${column} ${use}: no part has declared it`);
    }
  }
  return null;
}

function neededColumns({ columns, indexes }: Table): [column: string, use: string][] {
  return [
    ...indexes.flatMap(({ name, columns: names }) =>
      names.map((column): [string, string] => [column, `of index ${name}`]),
    ),
    ...columns.flatMap(({ name, derived }): [string, string][] =>
      derived === undefined ? [] : [[derived.from, `from which ${name} is derived`]],
    ),
  ];
}

/** The whole obeys the rules of one declaration: indexes over columns that are there, and the limits of a table. */
function checkWhole(merged: Schema, views: ReadonlyMap<string, PartView>, part: string): void {
  checkNeeded(merged, views);
  // Without other parts the whole is the declaration, which was parsed by the same rules.
  if (part === MAIN_PART && views.size === 1) return;
  try {
    parseSchema(schemaToJson(merged));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const named = error.message.replace(
      /^schema\.tables\[(\d+)\]/,
      (_, i) => `table ${merged.tables[Number(i)]?.name}`,
    );
    throw new ApiError(
      part === MAIN_PART ? 'unsupported_change' : 'invalid_schema',
      `${named} (with what other parts declare)`,
    );
  }
}

function checkNeeded(merged: Schema, views: ReadonlyMap<string, PartView>): void {
  for (const [part, { added }] of views) {
    const gone = lackingColumn(merged, { own: [], added });
    if (gone !== null) throw unsupported(`${gone.message.split(':')[0]} would be gone, and ${partName(part)} needs it`);
  }
}

function unsupported(message: string): ApiError {
  return new ApiError('unsupported_change', message);
}

function partName(part: string): string {
  return part === MAIN_PART ? 'the main part (schema.sync)' : `part ${part}`;
}

function ownedBy(part: string): string {
  return part === MAIN_PART ? "the main part's" : `part ${part}'s`;
}
