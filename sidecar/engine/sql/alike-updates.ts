import type { Column, ColumnType } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';
import type { BatchOperation } from '../batch.ts';
import { uniqueSets } from '../model/physical-indexes.ts';
import type { TableTarget, Write } from '../rows.ts';

/** Neighbouring updates that set the same columns of one row each, of different rows: their order does not matter. */
export interface AlikeUpdates {
  readonly target: TableTarget;
  /** Unique column by which each update names its row. */
  readonly key: Column;
  readonly columns: readonly Column[];
  /** Values in the order of the columns. */
  readonly rows: readonly { readonly key: Value; readonly values: readonly Value[] }[];
}

interface OneUpdate {
  readonly target: TableTarget;
  readonly key: Column;
  readonly keyValue: Value;
  readonly set: ReadonlyMap<string, Value>;
}

/** Fewer updates are as quick one by one. */
const MIN_ROWS = 4;
/** The longer a statement, the slower some servers are with it. */
const MAX_ROWS = 128;
/** Parameters of one statement; not every engine keeps a statement with more of them prepared. */
const MAX_PARAMS = 3900;
/** Types whose equal values have the same text. */
const KEY_TYPES: ReadonlySet<ColumnType> = new Set(['int32', 'int64', 'string', 'uuid', 'date', 'datetime']);

/** The group that begins at an index; null if it has too few updates. */
export function alikeUpdates(operations: readonly (BatchOperation | ApiError)[], from: number): AlikeUpdates | null {
  const first = updateOf(operations[from]);
  if (first === null) return null;
  const names = first.target.table.columns.filter(({ name }) => first.set.has(name)).map(({ name }) => name);
  const rows: { key: Value; values: Value[] }[] = [];
  const keys = new Set<string>();
  const most = Math.min(MAX_ROWS, MAX_PARAMS / (2 * names.length + 1));
  for (let i = from; i < operations.length && rows.length < most; i += 1) {
    const update = i === from ? first : updateOf(operations[i]);
    if (update === null || !isLike(first, update) || keys.has(String(update.keyValue))) break;
    keys.add(String(update.keyValue));
    rows.push({ key: update.keyValue, values: names.map((name) => update.set.get(name) ?? null) });
  }
  if (rows.length < MIN_ROWS) return null;
  const { target, key } = first;
  const columns = target.table.columns.filter(({ name }) => first.set.has(name));
  // A power of two, so that few statements serve all lengths.
  const some = rows.slice(0, 2 ** Math.floor(Math.log2(rows.length)));
  return { target, key, columns, rows: some };
}

function isLike(a: OneUpdate, b: OneUpdate): boolean {
  if (a.target.table !== b.target.table || a.key !== b.key || a.set.size !== b.set.size) return false;
  for (const name of b.set.keys()) if (!a.set.has(name)) return false;
  return true;
}

/** Null for a write that is more than values for one row, or that may conflict with another such update. */
function updateOf(operation: BatchOperation | ApiError | undefined): OneUpdate | null {
  if (operation === undefined || operation instanceof ApiError || 'compile' in operation.write) return null;
  const { target, write } = operation;
  if (write.op !== 'update' || write.inc.size > 0 || write.set.size === 0) return null;
  const compared = keyOf(target, write);
  if (compared === null) return null;
  const sets = uniqueSets(target.table);
  if (sets.some((names) => names.some((name) => write.set.has(name)))) return null;
  return { target, key: compared.column, keyValue: compared.value, set: write.set };
}

/** The filter is a value of a column that is unique by itself. */
function keyOf({ table }: TableTarget, { filter }: Write & { op: 'update' }): (Filter & { kind: 'compare' }) | null {
  if (filter?.kind !== 'compare' || filter.op !== 'eq' || filter.value === null) return null;
  if (!KEY_TYPES.has(filter.column.type)) return null;
  const isUnique = uniqueSets(table).some((names) => names.length === 1 && names[0] === filter.column.name);
  return isUnique ? filter : null;
}
