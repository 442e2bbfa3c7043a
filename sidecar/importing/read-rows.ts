import { ApiError } from '#protocol/errors.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { type DerivedColumn, derivedOf, deriveInto } from '../columns/derive.ts';
import type { Row } from '../engine/rows.ts';
import { converterOf, selectSql } from './convert.ts';
import { type MysqlConnection, quotedName, type TextRow } from './mysql-connection.ts';
import type { TablePlan } from './proposal.ts';
import { primaryKeyOf } from './source.ts';
import type { TimeZone } from './time-zone.ts';

/** A value that its column cannot hold. */
export interface Misfit {
  readonly table: string;
  /** The row's primary key, or its number if the table has none: "identifier = steam:1", "row 17". */
  readonly key: string;
  readonly column: string;
  /** In plain words, without the value. */
  readonly reason: string;
}

export type ReadRow =
  | { readonly row: Row; readonly misfits: null }
  | { readonly row: null; readonly misfits: readonly Misfit[] };

/** Every row of a table, in the order of its key, or in which it lies, as logical values or with what does not fit. */
export async function* readRows(connection: MysqlConnection, plan: TablePlan, zone: TimeZone): AsyncGenerator<ReadRow> {
  const { source, columns } = plan;
  const list = columns.map((column) => selectSql(column.source)).join(', ');
  const key = primaryKeyOf(source)?.columns ?? [];
  const order = key.length === 0 ? '' : ` ORDER BY ${key.map(quotedName).join(', ')}`;
  const reader = new RowReader(plan, zone);
  const sql = `SELECT ${list} FROM ${quotedName(source.name)}${order}`;
  for await (const texts of connection.stream(sql)) yield reader.read(texts);
}

class RowReader {
  readonly #plan: TablePlan;
  readonly #converters: readonly ((text: string | null) => Value)[];
  /** Values of declared columns that the source does not have. */
  readonly #rest: readonly (readonly [string, Value])[];
  readonly #derived: readonly DerivedColumn[];
  readonly #keyPositions: readonly (readonly [string, number])[];
  #rows = 0;

  constructor(plan: TablePlan, zone: TimeZone) {
    const { source, table, columns } = plan;
    this.#plan = plan;
    this.#converters = columns.map((column) => converterOf(column.source, column.column, zone));
    this.#derived = derivedOf(table.columns);
    const filled = new Set(columns.map(({ column }) => column.name));
    const rest = table.columns.filter((column) => !filled.has(column.name));
    this.#rest = rest.map((column) => [column.name, parseValue(column, null)] as const);
    this.#keyPositions = (primaryKeyOf(source)?.columns ?? []).map((name) => [
      name,
      columns.findIndex((column) => column.source.name === name),
    ]);
  }

  read(texts: TextRow): ReadRow {
    this.#rows += 1;
    const row = new Map<string, Value>(this.#rest);
    const misfits: Misfit[] = [];
    for (const [i, { source, column }] of this.#plan.columns.entries()) {
      try {
        row.set(column.name, (this.#converters[i] as (text: string | null) => Value)(texts[i] ?? null));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const reason = error.message.replace(`${column.name}: `, '');
        misfits.push({ table: this.#plan.source.name, key: this.#keyText(texts), column: source.name, reason });
      }
    }
    if (misfits.length > 0) return { row: null, misfits };
    deriveInto(this.#derived, row);
    return { row, misfits: null };
  }

  #keyText(texts: TextRow): string {
    if (this.#keyPositions.length === 0) return `row ${this.#rows}`;
    return this.#keyPositions.map(([name, position]) => `${name} = ${texts[position] ?? 'NULL'}`).join(', ');
  }
}
