import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import { isJsonObject, parseJson, writeJson } from '#protocol/json.ts';
import type { Column, Table } from '#protocol/schema.ts';
import { parseValue, type Value, writeValue } from '#protocol/values.ts';
import { type DerivedColumn, derivedOf, deriveInto } from '../columns/derive.ts';
import type { Engine } from '../engine/engine.ts';
import { keyColumnsOf, readKeyPage } from '../engine/model/key-order.ts';
import { storageForm } from '../engine/model/storage-form.ts';
import type { CallBounds, Row, TableTarget, Write } from '../engine/rows.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';

const PAGE_ROWS = 1000;
const PAGE_BYTES = 4_194_304;
/** Limit of one read or write, and so the longest wait for a sidecar that was killed. */
const STATEMENT_MS = 15_000;
/** Few, so that no row of the game waits long for its lock. */
const CHANGES_AT_ONCE = 250;
/** Few, so that most connections are left to the game. */
const WORKERS = 4;
/** More than others who write the very same rows can bring about. */
const MAX_PASSES = 1000;

/** A table with columns that are being filled, for calls of the engine. */
interface Filling {
  readonly target: TableTarget;
  readonly key: readonly Column[];
  readonly derived: readonly DerivedColumn[];
  /** Columns to read: the key, the sources and the derived columns. */
  readonly columns: readonly Column[];
}

/**
 * Gives every row of a namespace what its columns that are being filled take out of their sources (contract section 11).
 * Others write at the same time, in this process and in others, and each of their writes keeps the columns. A value that
 * is written here may be out of date by then; but no page is left before it was read once with every value right, and
 * who writes later keeps them so. Begun again after a crash, it goes on where the mark says.
 */
export async function fillDerived(
  engine: Engine,
  stored: StoredSchema,
  onRows: (rows: number) => void = () => undefined,
): Promise<number> {
  let rows = 0;
  for (const table of stored.schema.tables) {
    const derived = derivedOf(table.columns).filter(({ column }) => column.filling !== undefined);
    if (derived.length === 0) continue;
    await fillTable(engine, fillingOf(stored, table, derived), (more) => {
      rows += more;
      onRows(rows);
    });
  }
  return rows;
}

function fillingOf({ namespace, revision }: StoredSchema, table: Table, derived: readonly DerivedColumn[]): Filling {
  const target = { namespace, revision, table: storageForm(table) };
  const key = keyColumnsOf(target);
  const needed = new Set(derived.flatMap(({ column, source }) => [column.name, source.name]));
  const isRead = (column: Column): boolean => key.includes(column) || needed.has(column.name);
  return { target, key, derived, columns: target.table.columns.filter(isRead) };
}

async function fillTable(engine: Engine, filling: Filling, onRows: (rows: number) => void): Promise<void> {
  const { target, key, derived } = filling;
  const { namespace } = target;
  const place = { table: target.table.name, columns: derived.map(({ column }) => column.name), key };
  let after = await readFillMark(engine.transfer, namespace, place, bounds());
  for (;;) {
    const page = await rightPage(engine, filling, after);
    const last = page.at(-1);
    if (last === undefined) return;
    onRows(page.length);
    after = last;
    await writeFillMark(engine.transfer, namespace, { ...place, after }, bounds());
  }
}

/** The page after a key, as it was read with nothing in it wrong. */
async function rightPage(engine: Engine, { target, key, derived, columns }: Filling, after: Row | null) {
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const page = { target, key, columns, after, dir: 'asc', limit: PAGE_ROWS, maxBytes: PAGE_BYTES } as const;
    const { rows } = await readKeyPage(engine, page, bounds());
    const changes = changesOf(rows, key, derived);
    if (changes.length === 0) return rows;
    await writeChanges(engine, target, changes);
  }
  throw new ApiError('conflict_retry', `rows of ${target.namespace}.${target.table.name} change all the time`);
}

interface Change {
  readonly set: Row;
  readonly filter: Filter;
}

/** Rows that get the same values change together. */
function changesOf(rows: readonly Row[], key: readonly Column[], derived: readonly DerivedColumn[]): Change[] {
  const groups = new Map<string, { readonly set: Row; readonly rows: Row[] }>();
  for (const row of rows) {
    const right = new Map(row);
    deriveInto(derived, right);
    const set = new Map<string, Value>(derived.map(({ column }) => [column.name, right.get(column.name) ?? null]));
    if (derived.every(({ column }) => isSame(column, row, set))) continue;
    const text = derived.map(({ column }) => writeValue(column, set.get(column.name) ?? null)).join(',');
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { set, rows: [row] });
    else group.rows.push(row);
  }
  return [...groups.values()].flatMap((group) =>
    rowFilters(key, group.rows).map((filter) => ({ set: group.set, filter })),
  );
}

function isSame(column: Column, a: Row, b: Row): boolean {
  return writeValue(column, a.get(column.name) ?? null) === writeValue(column, b.get(column.name) ?? null);
}

function rowFilters(key: readonly Column[], rows: readonly Row[]): Filter[] {
  const cellOf = (row: Row, { name }: Column): Value => row.get(name) ?? null;
  const [column, ...others] = key;
  if (column !== undefined && others.length === 0 && rows.length > 1) {
    return [{ kind: 'in', column, negated: false, values: rows.map((row) => cellOf(row, column)) }];
  }
  return rows.map((row) => ({
    kind: 'and',
    filters: key.map((part) => ({ kind: 'compare', column: part, op: 'eq', value: cellOf(row, part) })),
  }));
}

/** In few transactions where there are any, since a row alone would cost one each; else several at a time. */
async function writeChanges(engine: Engine, target: TableTarget, changes: readonly Change[]): Promise<void> {
  const writes = changes.map(({ set, filter }): Write => ({ op: 'update', set, inc: new Map(), filter }));
  if (!engine.capabilities.transactions) {
    await inTurn(writes, (write) => engine.write(target, write, null, bounds()));
    return;
  }
  const batch = { namespace: target.namespace, isAtomic: true };
  for (let from = 0; from < writes.length; from += CHANGES_AT_ONCE) {
    const some = writes.slice(from, from + CHANGES_AT_ONCE);
    const operations = some.map((write) => ({ target, write, expected: null }));
    await engine.batch({ ...batch, operations }, null, bounds());
  }
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  // All have ended when this does, so that nothing is under way that nobody waits for.
  const results = await Promise.allSettled(Array.from({ length: WORKERS }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function bounds(): CallBounds {
  return { deadline: performance.now() + STATEMENT_MS };
}

/** How far the filling of a namespace's derived columns has come: one table after another, each in the order of its key. */
interface FillMark {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly Column[];
  /** All rows up to this key have their values. */
  readonly after: Row;
}

type Marks = Pick<Engine['transfer'], 'readMark' | 'writeMark'>;

function writeFillMark(transfer: Marks, namespace: string, mark: FillMark, bounds: CallBounds): Promise<void> {
  const { table, columns, key, after } = mark;
  const values = key.map((column) => parseJson(writeValue(column, after.get(column.name) ?? null)));
  const text = writeJson({ table, columns: [...columns], key: key.map(partText), after: values });
  return transfer.writeMark(nameOf(namespace), text, bounds);
}

/** Before columns are filled from the first row on. */
export function clearFillMark(transfer: Marks, namespace: string, bounds: CallBounds): Promise<void> {
  return transfer.writeMark(nameOf(namespace), null, bounds);
}

/** Null if the mark names another table, key or columns: then the rows are filled from the first on. */
async function readFillMark(
  transfer: Marks,
  namespace: string,
  wanted: Omit<FillMark, 'after'>,
  bounds: CallBounds,
): Promise<Row | null> {
  const text = await transfer.readMark(nameOf(namespace), bounds);
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json) || !Array.isArray(json.after)) return null;
  const { table, columns, key } = wanted;
  const isSame = writeJson([json.table ?? null, json.columns ?? null, json.key ?? null]);
  if (isSame !== writeJson([table, [...columns], key.map(partText)])) return null;
  const values = json.after;
  return new Map(key.map((column, i) => [column.name, parseValue(column, values[i] ?? null)]));
}

function partText({ name, type }: Column): string {
  return `${name} ${type}`;
}

function nameOf(namespace: string): string {
  return `fill:${namespace}`;
}
