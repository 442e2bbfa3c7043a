import { ApiError } from '#protocol/errors.ts';
import { INT32_MAX, INT64_MAX } from '#protocol/limits.ts';
import type { Row, TableTarget } from '../../rows.ts';
import { generatedColumn } from '../../sql/change.ts';
import { tableSql } from '../../sql/read.ts';
import type { Session, SqlResult } from '../../sql/session.ts';
import { MYSQL_DIALECT } from '../dialect.ts';

const STORE = `INSERT INTO _generators (namespace, table_name, last_id) VALUES (?, ?, ?)
  ON DUPLICATE KEY UPDATE last_id = GREATEST(last_id, VALUES(last_id))`;
const STORED = 'SELECT last_id FROM _generators WHERE namespace = ? AND table_name = ?';

/** The highest id that the generator of a table can give. */
export function endOfGenerator({ table }: TableTarget): bigint {
  return generatedColumn(table)?.type === 'int32' ? BigInt(INT32_MAX) : INT64_MAX;
}

export function generatorAtEnd(): ApiError {
  return new ApiError('constraint_violation', 'the generator of the primary key is at its end; nothing was inserted');
}

/**
 * For rows that were just inserted. MySQL generates the last id of a type again once its row was deleted, and ids are never
 * generated twice: the insert that uses it first stores it, and a later one is taken back.
 * @throws ApiError if the last id was generated a second time
 */
export async function keepLastId(
  session: Session,
  target: TableTarget,
  rows: readonly Row[],
  { insertId, idStep = 1n }: SqlResult,
): Promise<void> {
  const generated = generatedColumn(target.table);
  if (generated === null) return;
  const end = endOfGenerator(target);
  const isGiven = rows.some((row) => row.has(generated.name) && BigInt(String(row.get(generated.name))) === end);
  const isDrawn = insertId !== null && insertId + BigInt(rows.length - 1) * idStep === end;
  if (!isGiven && !isDrawn) return;
  const name = [target.namespace, target.table.name];
  if (!isGiven) {
    const [stored] = (await session.query(STORED, name)).rows;
    if (stored !== undefined && BigInt(String(stored[0])) === end) {
      const column = MYSQL_DIALECT.quoted(generated.name);
      await session.query(`DELETE FROM ${tableSql(MYSQL_DIALECT, target)} WHERE ${column} = ?`, [end]);
      throw generatorAtEnd();
    }
  }
  await session.query(STORE, [...name, end]);
}
