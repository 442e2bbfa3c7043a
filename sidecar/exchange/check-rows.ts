import { createHash } from 'node:crypto';
import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { JsonObject } from '#protocol/json.ts';
import { type Column, columnOf, type Table } from '#protocol/schema.ts';
import { completeRow } from '../data/rows.ts';
import { columnsOf } from '../data/table-columns.ts';
import type { Engine } from '../engine/engine.ts';
import { rowsOfText } from '../engine/model/key-order.ts';
import { uniqueSets } from '../engine/model/physical-indexes.ts';
import type { Row, TableTarget } from '../engine/rows.ts';
import { rowText } from '../moving/checksum.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { FirstLines } from './first-lines.ts';

/** A row of a file with the line on which it begins or ends. */
export interface NumberedRow {
  readonly line: number;
  readonly row: Row;
}

/** A line that cannot be imported. */
export interface Refusal {
  readonly line: number;
  readonly reason: string;
}

/** Keys of one question to the database. */
const KEYS_AT_ONCE = 100;
const ANSWER_BYTES = 67_108_864;

/**
 * The row that an insert of the API would make. NULL for a generated column means that it is generated; derived columns
 * are left out, as they follow from others.
 *
 * @throws ApiError that names the column
 */
export function rowOf(table: Table, json: JsonObject, now: number): Row {
  const columns = columnsOf(table);
  const given: JsonObject = Object.create(null);
  for (const [name, value] of Object.entries(json)) {
    const column = columns.byName.get(name);
    if (column?.derived !== undefined || (column?.autoIncrement === true && value === null)) continue;
    given[name] = value;
  }
  return completeRow(columns, given, 'row', now);
}

/** Reason of a refusal for a reader of the file, who knows columns and no paths. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  return error.message.replace(/^row\./, '');
}

/** Looks for rows that break a unique key: among those of the file, and with those of the table. */
export class UniqueCheck {
  readonly #engine: Engine;
  readonly #target: TableTarget;
  readonly #keys: readonly UniqueKey[];

  constructor(engine: Engine, target: TableTarget) {
    this.#engine = engine;
    this.#target = target;
    this.#keys = uniqueSets(target.table).map((names) => ({
      columns: names.map((name) => columnOf(target.table, name, 'key')),
      seen: new FirstLines(),
    }));
  }

  /** @param isWritten rows that an earlier run may have put into the table: these are only remembered */
  async refusals(rows: readonly NumberedRow[], isWritten: boolean): Promise<Refusal[]> {
    const refusals: Refusal[] = [];
    for (const key of this.#keys) {
      const fresh = rows.filter(({ line, row }) => {
        const first = remember(key, row, line);
        if (first !== null) refusals.push({ line, reason: `${namesOf(key)}: the same as in line ${first}` });
        return first === null && isWhole(key, row);
      });
      if (isWritten) continue;
      for (let i = 0; i < fresh.length; i += KEYS_AT_ONCE) {
        refusals.push(...(await this.#taken(key, fresh.slice(i, i + KEYS_AT_ONCE))));
      }
    }
    return refusals;
  }

  async #taken({ columns }: UniqueKey, rows: readonly NumberedRow[]): Promise<Refusal[]> {
    const fields = columns.map(({ name }) => name);
    const query = { fields, sort: [], limit: rows.length, offset: 0, maxBytes: ANSWER_BYTES };
    const filter = anyOf(columns, rows);
    const page = await patiently(async () => this.#engine.find(this.#target, { ...query, filter }, statementBounds()));
    const there = new Set(rowsOfText(columns, page.rows).map((row) => rowText(columns, row)));
    return rows
      .filter(({ row }) => there.has(rowText(columns, row)))
      .map(({ line }) => ({ line, reason: `${fields.join(', ')}: the table has this row already` }));
  }
}

interface UniqueKey {
  readonly columns: readonly Column[];
  readonly seen: FirstLines;
}

/** The line that has the key already, or null. */
function remember(key: UniqueKey, row: Row, line: number): number | null {
  if (!isWhole(key, row)) return null;
  const digest = createHash('sha256').update(rowText(key.columns, row)).digest().readBigUInt64LE();
  return key.seen.earlier(digest, line);
}

/** NULL equals nothing, and a generated id is not known yet. */
function isWhole({ columns }: UniqueKey, row: Row): boolean {
  return columns.every(({ name }) => (row.get(name) ?? null) !== null);
}

function namesOf({ columns }: UniqueKey): string {
  return columns.map(({ name }) => name).join(', ');
}

function anyOf(columns: readonly Column[], rows: readonly NumberedRow[]): Filter {
  const [column, ...others] = columns;
  if (column !== undefined && others.length === 0) {
    return { kind: 'in', column, negated: false, values: rows.map(({ row }) => row.get(column.name) ?? null) };
  }
  return {
    kind: 'or',
    filters: rows.map(({ row }) => ({
      kind: 'and',
      filters: columns.map((part) => ({ kind: 'compare', column: part, op: 'eq', value: row.get(part.name) ?? null })),
    })),
  };
}
