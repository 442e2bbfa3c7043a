import type { Column } from '../../../db_connector/protocol/columns.ts';
import type { Filter } from '../../../db_connector/protocol/filter.ts';
import type { IdempotencySlot, Row, TableTarget, Write } from '../engine.ts';
import { filterSql } from '../filter-sql.ts';
import { physicalGenerator, physicalTable } from '../physical-names.ts';
import { generatedColumn, setSql } from '../sql/compile-change.ts';
import { type CompiledStatement, tableSql } from '../sql/compile-read.ts';
import { SqlParams } from '../sql/dialect.ts';
import { arrayLiteral } from './array-literal.ts';
import { POSTGRES_DIALECT, paramType } from './dialect.ts';

/**
 * Writes as one statement each: it changes nothing where the schema is another one by now, or where the slot is taken,
 * and it remembers its result itself.
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
   * Several rows travel as one array a column, so that the text is the same for any number of them. All rows bring the
   * generated column along, or none does. Its first result column is the id of each row where `result` is null.
   * @param reached the generator must have given this id before, else nothing is inserted
   * @param result text to remember, or of no interest; null puts the generated ids in
   */
  insert(rows: readonly Row[], reached: bigint | null, result: string | null): CompiledStatement {
    const { table } = this.#target;
    const generated = generatedColumn(table);
    const columns = table.columns.filter((column) => column !== generated || rows[0]?.has(column.name));
    const names = columns.map((column) => `"${column.name}"`).join(', ');
    const into = columns.length === 0 ? this.#tableSql() : `${this.#tableSql()} (${names})`;
    const guard = reached === null ? this.#guardSql() : `${this.#guardSql()} AND ${this.#reachedSql(reached)}`;
    const insert = `INSERT INTO ${into} SELECT ${this.#rowsSql(columns, rows)} WHERE ${guard}`;
    const id = generated === null ? '1' : `"${generated.name}"`;
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

  /** With a slot: one row of the affected rows, and 1 where the result was remembered. */
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
   * Inserts, or updates the row with the keys. One row of one column: whether anything was done. Where it was not, another
   * has just inserted the row, the schema is another one, the slot is taken, or the generator has not come so far.
   */
  upsert(write: Write & { op: 'upsert' }, reached: bigint | null, result: string): CompiledStatement {
    const { table } = this.#target;
    const given = table.columns.filter((column) => write.row.has(column.name));
    const place = (column: Column): string => this.#params.typed(column, write.row.get(column.name) ?? null);
    const places = new Map(given.map((column) => [column.name, place(column)]));
    const isGenerated = given.length < table.columns.length;
    const isMoving = reached !== null && !write.keys.includes(generatedColumn(table)?.name ?? '');
    // An insert that turns into an update would have used an id up, or moved the generator.
    const looksFirst = isGenerated || isMoving || write.update.length === 0;
    const parts = looksFirst ? [`u AS (${this.#existingSql(write, places)})`] : [];
    parts.push(`i AS (${this.#insertOnceSql(write, places, reached, looksFirst)})`);
    const isDone = `${looksFirst ? 'EXISTS (SELECT FROM u) OR ' : ''}EXISTS (SELECT FROM i)`;
    if (this.#slot !== null) {
      parts.push(`m AS (${this.#rememberSql(this.#slot, `${this.#params.add(result)}::text`, `WHERE ${isDone}`)})`);
    }
    return this.#statement(`WITH ${parts.join(', ')} SELECT ${isDone}`);
  }

  #existingSql({ keys, update }: Write & { op: 'upsert' }, places: ReadonlyMap<string, string>): string {
    const isKey = keys.map((name) => `"${name}" = ${places.get(name)}`).join(' AND ');
    const where = `WHERE ${isKey} AND ${this.#guardSql()}`;
    if (update.length === 0) return `SELECT 1 FROM ${this.#tableSql()} ${where}`;
    const changes = update.map((name) => `"${name}" = ${places.get(name)}`).join(', ');
    return `UPDATE ${this.#tableSql()} SET ${changes} ${where} RETURNING 1`;
  }

  #insertOnceSql(
    { keys, update }: Write & { op: 'upsert' },
    places: ReadonlyMap<string, string>,
    reached: bigint | null,
    looksFirst: boolean,
  ): string {
    const names = [...places.keys()].map((name) => `"${name}"`).join(', ');
    const values = [...places.values()].join(', ');
    const guard = reached === null ? this.#guardSql() : `${this.#guardSql()} AND ${this.#reachedSql(reached)}`;
    const arbiter = keys.map((name) => `"${name}"`).join(', ');
    const changes = update.map((name) => `"${name}" = EXCLUDED."${name}"`).join(', ');
    const action = update.length === 0 ? 'NOTHING' : `UPDATE SET ${changes}`;
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

  /** True where the schema is the one that the statement was written for, and the slot is free. */
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

  /** A twin that was quicker makes it fail, and the whole statement with it. */
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
