import type { DeadLetter } from '#engine/queues.ts';
import type { ApiErrorCode } from '#protocol/errors.ts';
import type { SchemaConnection } from '../schema/connection.ts';
import type { SqlParam } from '../session.ts';

const COLUMNS = ['id', 'namespace', 'kid', 'op', 'payload', 'code', 'message', 'time', 'is_retry_wanted'];

/** Oldest first. */
export async function lettersWhere(
  connection: SchemaConnection,
  rest: { readonly where: string; readonly params: readonly SqlParam[]; readonly limit?: number | undefined },
): Promise<DeadLetter[]> {
  const { where, params, limit = null } = rest;
  const order = connection.list(['time', 'id']);
  const sql = `SELECT ${connection.list(COLUMNS)} FROM _dead_letters ${where} ORDER BY ${order}`;
  const rows =
    limit === null
      ? await connection.rows(sql, params)
      : await connection.rows(`${sql} LIMIT ?`, [...params, BigInt(limit)]);
  return rows.map(letterOf);
}

function letterOf(row: readonly unknown[]): DeadLetter {
  const [id, namespace, kid, op, payload, code, message, time, isRetryWanted] = row;
  return {
    id: String(id),
    namespace: String(namespace),
    kid: String(kid),
    op: String(op),
    payload: String(payload),
    code: String(code) as ApiErrorCode,
    message: String(message),
    time: Number(time),
    isRetryWanted: Number(isRetryWanted) !== 0,
  };
}

/** An existing letter stays as it is. */
export async function addLetter(
  connection: SchemaConnection,
  { id, namespace, kid, op, payload, code, message, time, isRetryWanted }: DeadLetter,
): Promise<void> {
  const places = COLUMNS.map(() => '?').join(', ');
  const values = [id, namespace, kid, op, payload, code, message, time, isRetryWanted ? 1 : 0];
  const into = `INSERT INTO _dead_letters (${connection.list(COLUMNS)}) VALUES (${places})`;
  await connection.run(`${into} ${connection.dialect.keepSql('id')}`, values);
}

/** False if there is no such letter. */
export async function removeLetter(connection: SchemaConnection, id: string): Promise<boolean> {
  return (await connection.run('DELETE FROM _dead_letters WHERE id = ?', [id])) > 0;
}

/** False if there is no such letter. */
export async function wantRetry(connection: SchemaConnection, id: string): Promise<boolean> {
  return (await connection.run('UPDATE _dead_letters SET is_retry_wanted = 1 WHERE id = ?', [id])) > 0;
}
