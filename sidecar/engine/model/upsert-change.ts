import type { Row, Write } from '../rows.ts';

type Upsert = Write & { readonly op: 'upsert' };

/** Change of an existing row by an upsert, in the form of an update. */
export interface UpsertChange {
  readonly set: Row;
  readonly inc: Row;
  /** Nothing to do if the row exists. */
  readonly isEmpty: boolean;
}

const NOTHING: Row = new Map();

export function upsertChange({
  row,
  update,
  touch,
  inc,
}: Pick<Upsert, 'row' | 'update' | 'touch' | 'inc'>): UpsertChange {
  const set: Row = new Map([...update.map((name) => [name, row.get(name) ?? null] as const), ...(touch ?? NOTHING)]);
  return { set, inc: inc ?? NOTHING, isEmpty: set.size + (inc?.size ?? 0) === 0 };
}

/** Rows that count as affected if the row existed. */
export function affectedExisting({ isInsertOnly }: Pick<Upsert, 'isInsertOnly'>): 0 | 1 {
  return isInsertOnly === true ? 0 : 1;
}
