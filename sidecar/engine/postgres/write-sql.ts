import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import { physicalGenerator, physicalTable } from '../model/physical-names.ts';
import { affectedExisting, type UpsertChange, upsertChange } from '../model/upsert-change.ts';
import type { IdempotencySlot, Row, TableTarget, Write } from '../rows.ts';
import { affectedResult, generatedColumn, setSql } from '../sql/change.ts';
import { SqlParams } from '../sql/dialect.ts';
import { filterSql } from '../sql/filter.ts';
import { type CompiledStatement, tableSql } from '../sql/read.ts';
import { arrayLiteral, POSTGRES_DIALECT, paramType, quoted } from './dialect.ts';

type Upsert = Write & { readonly op: 'upsert' };

/** Place of the value that a column has in a row. */
type PlaceOf = (column: Column) => string;

/**
 * Compiles each write to one statement. The statement changes nothing if the schema has changed since or the slot is
 * taken, and it stores its result under the slot.
 */
export class WriteCompiler {
  readonly #target: TableTarget;
  readonly #slot: IdempotencySlot | null;
  readonly #params = new SqlParams(POSTGRES_DIALECT);

  constructor(target: TableTarget, slot: IdempotencySlot | null) {
    this.#target = target;
    this.#slot = slot;
  }

  /**
   * Several rows travel as one array per column, so that the text is the same for any number of them. All rows have a
   * value for the generated column, or none does. If `result` is null, the first result column is the id of each row.
   * @param reached the generator must have given this id before, else nothing is inserted
   * @param result text to remember, or of no interest; null puts the generated ids in
   */
  insert(rows: readonly Row[], reached: bigint | null, result: string | null): CompiledStatement {
    const { table } = this.#target;
    const generated = generatedColumn(table);
    const columns = table.columns.filter((column) => column !== generated || rows[0]?.has(column.name));
    const names = columns.map((column) => quoted(column.name)).join(', ');
    const into = columns.length === 0 ? this.#tableSql() : `${this.#tableSql()} (${names})`;
    const guard = reached === null ? this.#guardSql() : `${this.#guardSql()} AND ${this.#reachedSql(reached)}`;
    const insert = `INSERT INTO ${into} SELECT ${this.#rowsSql(columns, rows)} WHERE ${guard}`;
    const id = generated === null ? '1' : quoted(generated.name);
    if (this.#slot === null) return this.#statement(result === null ? `${insert} RETURNING ${id}` : insert);
    const text = result === null ? insertedIdsSql(rows.length) : `${this.#params.add(result)}::text`;
    const remember = this.#rememberSql(this.#slot, text, 'WHERE EXISTS (SELECT FROM w)');
    return this.#statement(`WITH w AS (${insert} RETURNING ${id} AS id), m AS (${remember}) SELECT id FROM w`);
  }

  update(write: Write & { op: 'update' }): CompiledStatement {
    const changes = setSql(POSTGRES_DIALECT, this.#target.table, write, this.#params);
    return this.#change(`UPDATE ${this.#tableSql()} SET ${changes}`, write.filter);
  }

  delete(filter: Filter | null): CompiledStatement {
    return this.#change(`DELETE FROM ${this.#tableSql()}`, filter);
  }

  /** With a slot, the result is one row: the number of affected rows, and 1 if the result was remembered. */
  #change(change: string, filter: Filter | null): CompiledStatement {
    const where = filter === null ? '' : ` AND ${filterSql(filter, this.#params)}`;
    const sql = `${change} WHERE ${this.#guardSql()}${where}`;
    if (this.#slot === null) return this.#statement(sql);
    const result = `'{"affected":' || (SELECT count(*) FROM w) || '}'`;
    const remember = this.#rememberSql(this.#slot, result, `WHERE ${this.#guardSql()} RETURNING 1`);
    const counts = '(SELECT count(*) FROM w), (SELECT count(*) FROM m)';
    return this.#statement(`WITH w AS (${sql} RETURNING 1), m AS (${remember}) SELECT ${counts}`);
  }

  /**
   * Inserts, or updates the row with the keys. One row of one column: JSON text of the result, null if nothing was done.
   * Then another call has just inserted the row, the schema has changed, the slot is taken, the generator has not reached
   * the id, or the row is missing and cannot be inserted.
   */
  upsert(write: Upsert, reached: bigint | null): CompiledStatement {
    const { table } = this.#target;
    const change = upsertChange(write);
    const isGenerated = table.columns.some((column) => !write.row.has(column.name));
    const isMoving = reached !== null && !write.keys.includes(generatedColumn(table)?.name ?? '');
    const isInserting = write.insertFault === undefined;
    // An insert that turns into an update would have used an id up, or moved the generator; and it takes no sums.
    const looksFirst = isGenerated || isMoving || change.isEmpty || change.inc.size > 0 || !isInserting;
    const placeOf = this.#placesOf(write.row);
    const existing = `WHEN EXISTS (SELECT FROM u) THEN '${affectedResult(affectedExisting(write))}'`;
    const inserted = `WHEN EXISTS (SELECT FROM i) THEN '${affectedResult(1)}'`;
    const parts = [
      ...(looksFirst ? [`u AS (${this.#existingSql(write, change, placeOf)})`] : []),
      ...(isInserting ? [`i AS (${this.#insertOnceSql(write, change, placeOf, reached, looksFirst)})`] : []),
      `r AS (SELECT CASE ${looksFirst ? existing : ''} ${isInserting ? inserted : ''} END AS result)`,
    ];
    if (this.#slot !== null) {
      parts.push(`m AS (${this.#rememberSql(this.#slot, 'r.result', 'FROM r WHERE r.result IS NOT NULL')})`);
    }
    return this.#statement(`WITH ${parts.join(', ')} SELECT result FROM r`);
  }

  /** Each value travels once, and only where it is needed. */
  #placesOf(row: Row): PlaceOf {
    const places = new Map<string, string>();
    return (column) => {
      let place = places.get(column.name);
      if (place === undefined) {
        place = this.#params.typed(column, row.get(column.name) ?? null);
        places.set(column.name, place);
      }
      return place;
    };
  }

  #existingSql(write: Upsert, change: UpsertChange, placeOf: PlaceOf): string {
    const { table } = this.#target;
    const keys = table.columns.filter((column) => write.keys.includes(column.name));
    const isKey = keys.map((column) => `${quoted(column.name)} = ${placeOf(column)}`).join(' AND ');
    const where = `WHERE ${isKey} AND ${this.#guardSql()}`;
    if (change.isEmpty) return `SELECT 1 FROM ${this.#tableSql()} ${where}`;
    const changes = this.#assignmentsSql(write, change, placeOf);
    return `UPDATE ${this.#tableSql()} SET ${changes} ${where} RETURNING 1`;
  }

  #assignmentsSql({ row }: Upsert, { set, inc }: UpsertChange, placeOf: PlaceOf): string {
    const changes = this.#target.table.columns.flatMap((column) => {
      const name = quoted(column.name);
      const value = set.get(column.name);
      if (value !== undefined) {
        return [`${name} = ${value === row.get(column.name) ? placeOf(column) : this.#params.typed(column, value)}`];
      }
      const amount = inc.get(column.name);
      return amount === undefined ? [] : [`${name} = ${POSTGRES_DIALECT.incSql(column, amount, this.#params)}`];
    });
    return changes.join(', ');
  }

  #insertOnceSql(
    write: Upsert,
    change: UpsertChange,
    placeOf: PlaceOf,
    reached: bigint | null,
    looksFirst: boolean,
  ): string {
    const given = this.#target.table.columns.filter((column) => write.row.has(column.name));
    const names = given.map((column) => quoted(column.name)).join(', ');
    const values = given.map(placeOf).join(', ');
    const guard = reached === null ? this.#guardSql() : `${this.#guardSql()} AND ${this.#reachedSql(reached)}`;
    const arbiter = write.keys.map((name) => quoted(name)).join(', ');
    // An `inc` of an existing row is left to the next attempt, which looks for the row first.
    const canUpdate = !change.isEmpty && change.inc.size === 0;
    const action = canUpdate ? `UPDATE SET ${this.#assignmentsSql(write, change, placeOf)}` : 'NOTHING';
    const select = `SELECT ${values} WHERE ${guard}${looksFirst ? ' AND NOT EXISTS (SELECT FROM u)' : ''}`;
    return `INSERT INTO ${this.#tableSql()} (${names}) ${select} ON CONFLICT (${arbiter}) DO ${action} RETURNING 1`;
  }

  #tableSql(): string {
    return tableSql(POSTGRES_DIALECT, this.#target);
  }

  #rowsSql(columns: readonly Column[], rows: readonly Row[]): string {
    if (columns.length === 0) return `FROM generate_series(1, ${this.#params.add(rows.length)}::int4)`;
    const [first] = rows;
    if (first !== undefined && rows.length === 1) {
      return columns.map((column) => this.#params.typed(column, first.get(column.name) ?? null)).join(', ');
    }
    const arrays = columns.map((column) => {
      const values = rows.map((row) => row.get(column.name) ?? null);
      return `${this.#params.add(arrayLiteral(values))}::${paramType(column)}[]`;
    });
    return `* FROM unnest(${arrays.join(', ')})`;
  }

  /** True if the schema is the one that the statement was written for, and the slot is free. */
  #guardSql(): string {
    const { namespace, revision } = this.#target;
    const current = `EXISTS (SELECT FROM _schemas WHERE namespace = ${this.#params.add(namespace)} AND revision = ${revision})`;
    if (this.#slot === null) return current;
    const { kid, key, now } = this.#slot;
    const taken = [
      `kid = ${this.#params.add(kid)}`,
      `namespace = ${this.#params.add(this.#slot.namespace)}`,
      `key = ${this.#params.add(key)}`,
      `expires_at > ${this.#params.add(now)}`,
    ];
    return `${current} AND NOT EXISTS (SELECT FROM _idempotency WHERE ${taken.join(' AND ')})`;
  }

  #reachedSql(id: bigint): string {
    return `COALESCE(pg_sequence_last_value(${generatorSql(this.#target)}), 0) >= ${this.#params.add(id)}`;
  }

  /** A faster twin makes it fail, and the whole statement with it. */
  #rememberSql({ kid, namespace, key, fingerprint, expiresAt }: IdempotencySlot, result: string, rest: string): string {
    const texts = [kid, namespace, key, fingerprint].map((text) => `${this.#params.add(text)}::text`).join(', ');
    const into = 'INSERT INTO _idempotency (kid, namespace, key, fingerprint, result, expires_at)';
    return `${into} SELECT ${texts}, ${result}, ${this.#params.add(expiresAt)}::int8 ${rest}`;
  }

  #statement(sql: string): CompiledStatement {
    return { sql, params: this.#params.values };
  }
}

function insertedIdsSql(count: number): string {
  return `'{"inserted":${count},"ids":[' || (SELECT string_agg(id::text, ',') FROM w) || ']}'`;
}

/** The sequence of the target's generated column. */
export function generatorSql({ namespace, table, physical }: TableTarget): string {
  return `'"${physicalGenerator(physical ?? physicalTable(namespace, table.name))}"'::regclass`;
}
