import { createHash } from 'node:crypto';
import { ApiError } from '#protocol/errors.ts';
import { type Column, findTable, type Renames, type Table } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import { type DerivedColumn, deriveInto } from '../columns/derive.ts';
import type { Engine } from '../engine/engine.ts';
import { type KeyRows, keyColumnsOf, readKeyPage } from '../engine/model/key-order.ts';
import { uniqueSets } from '../engine/model/physical-indexes.ts';
import { storageForm } from '../engine/model/storage-form.ts';
import type { CallBounds, Row } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import type { DerivedStages } from './derived-stages.ts';

const PAGE = { dir: 'asc', limit: 1000, maxBytes: 4_194_304 } as const;

/** Columns that become unique together, as the stored rows give them. */
interface UniqueSet {
  readonly names: readonly string[];
  /** By their present names. */
  readonly columns: readonly Column[];
  readonly derived: readonly DerivedColumn[];
  readonly seen: Set<string>;
}

/**
 * Whether derived columns that are declared unique would find a value twice, before anything is changed. Only they are
 * looked at; all else is checked by the engine.
 * @throws ApiError `data_does_not_fit`
 */
export async function checkDerivedUnique(
  engine: Engine,
  stored: StoredSchema,
  { filling }: DerivedStages,
  declared: readonly Table[],
  renames: Renames,
  bounds: () => CallBounds,
): Promise<void> {
  for (const table of declared) {
    const from = findTable(stored.schema, table.name) ?? findTable(stored.schema, renames.tables.get(table.name) ?? '');
    const toFill = findTable(filling, table.name)?.columns.filter((column) => column.filling !== undefined) ?? [];
    if (from === null || toFill.length === 0) continue;
    const sets = uniqueSetsOf(from, table, toFill, renames.columns.get(table.name));
    if (sets.length > 0) await checkRows(engine, stored, from, sets, `${stored.namespace}.${table.name}`, bounds);
  }
}

function uniqueSetsOf(
  from: Table,
  to: Table,
  toFill: readonly Column[],
  oldNames: ReadonlyMap<string, string> | undefined,
): UniqueSet[] {
  const present = (name: string): Column | undefined => {
    const find = (wanted: string | undefined) => from.columns.find((column) => column.name === wanted);
    return find(name) ?? find(oldNames?.get(name));
  };
  return uniqueSets(to).flatMap((names) => {
    if (!names.some((name) => toFill.some((column) => column.name === name))) return [];
    const columns = names.map((name) => toFill.find((column) => column.name === name) ?? present(name));
    const derived = columns.flatMap((column) => {
      const source = column?.filling && present(column.derived?.from ?? '');
      return column && source ? [{ column, source }] : [];
    });
    const known = columns.filter(
      (column) => column?.filling === undefined || derived.some((one) => one.column === column),
    );
    // The values of a new column are known to the engine alone, which checks at the end.
    if (known.length < names.length || !known.every((column) => column !== undefined)) return [];
    return [{ names, columns: known, derived, seen: new Set<string>() }];
  });
}

async function checkRows(
  engine: Engine,
  { namespace, revision }: StoredSchema,
  from: Table,
  sets: readonly UniqueSet[],
  where: string,
  bounds: () => CallBounds,
): Promise<void> {
  const target = { namespace, revision, table: storageForm(from) };
  const key = keyColumnsOf(target);
  const needed = new Set(
    sets.flatMap((set) => [...set.columns, ...set.derived.map(({ source }) => source)].map(({ name }) => name)),
  );
  const columns = target.table.columns.filter((column) => key.includes(column) || needed.has(column.name));
  let after: Row | null = null;
  for (;;) {
    const { rows }: KeyRows = await readKeyPage(engine, { ...PAGE, target, key, columns, after }, bounds());
    for (const row of rows) for (const set of sets) checkRow(set, row, where);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

function checkRow({ names, columns, derived, seen }: UniqueSet, row: Row, where: string): void {
  const values = new Map(row);
  deriveInto(derived, values);
  const texts = columns.map((column) => writeValue(column, values.get(column.name) ?? null));
  if (texts.includes('null')) return;
  // Digests, as a million long names would need too much memory.
  const digest = createHash('sha256').update(JSON.stringify(texts)).digest('base64');
  if (seen.has(digest)) {
    throw new ApiError(
      'data_does_not_fit',
      `${where}: rows repeat each other in ${names.join(', ')}, which becomes unique`,
    );
  }
  seen.add(digest);
}
