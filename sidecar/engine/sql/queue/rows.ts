import { burial, laterPlace } from '#engine/model/queue-places.ts';
import type { ListedQueue, Orphan, PastPlace, QueueOwner, QueueRow } from '#engine/queues.ts';
import type { SchemaConnection } from '../schema/connection.ts';
import type { SqlParam } from '../session.ts';
import { addLetter } from './letters.ts';

const PLACE = ['token', 'position', 'past'];
const COLUMNS = ['namespace', 'journal', ...PLACE];

type Journal = Pick<QueueRow, 'namespace' | 'journal'>;

/** The row of `_journals`; `lock` keeps it as it is until the transaction ends. */
export async function readQueue(
  connection: SchemaConnection,
  { namespace, journal }: Journal,
  { lock = false } = {},
): Promise<QueueRow | null> {
  const end = lock ? connection.dialect.lockRowsSql : '';
  const sql = `SELECT ${connection.list(PLACE)} FROM _journals WHERE namespace = ? AND journal = ?${end}`;
  const [row] = await connection.kept(sql, [namespace, journal]);
  return row === undefined ? null : rowOf([namespace, journal, ...row]);
}

function rowOf([namespace, journal, token, position, past]: readonly unknown[]): QueueRow {
  return {
    namespace: String(namespace),
    journal: String(journal),
    token: Number(token),
    position: Number(position),
    past: JSON.parse(String(past)) as PastPlace[],
  };
}

export async function listQueues(connection: SchemaConnection, namespace: string | null): Promise<ListedQueue[]> {
  const { nowMsSql } = connection.dialect;
  const age = `CASE WHEN written_at = 0 THEN NULL ELSE ${nowMsSql} - written_at END`;
  const where = namespace === null ? '' : 'WHERE namespace = ?';
  const sql = `SELECT ${connection.list(COLUMNS)}, ${age} FROM _journals ${where} ORDER BY namespace, journal`;
  const rows = await connection.rows(sql, namespace === null ? [] : [namespace]);
  return rows.map((row) => ({ ...rowOf(row), writtenMsAgo: row[5] === null ? null : Math.max(0, Number(row[5])) }));
}

/** For a transaction. */
export async function claimQueue(connection: SchemaConnection, of: Journal): Promise<QueueRow> {
  const known = await readQueue(connection, of);
  if (known !== null) return known;
  await insertQueue(connection, { ...of, token: 1, position: 0, past: [] });
  return (await readQueue(connection, of, { lock: true })) as QueueRow;
}

/** Leaves a row alone that is there. */
async function insertQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  const into = `INSERT INTO _journals (${connection.list([...COLUMNS, 'written_at'])}) VALUES (?, ?, ?, ?, ?, 0)`;
  await connection.run(`${into} ${connection.dialect.keepSql('namespace', 'journal')}`, valuesOf(row));
}

function valuesOf({ namespace, journal, token, position, past }: QueueRow): SqlParam[] {
  return [namespace, journal, token, position, JSON.stringify(past)];
}

/** For a transaction. */
export async function buryOrphans(
  connection: SchemaConnection,
  owner: QueueOwner,
  orphans: readonly Orphan[],
): Promise<void> {
  const row = await readQueue(connection, owner, { lock: true });
  const { letters, row: next } = burial(row, owner, orphans);
  for (const letter of letters) await addLetter(connection, letter);
  if (next !== null && next !== row) await changeQueue(connection, next);
}

async function changeQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  const changes = PLACE.map((name) => `${connection.quoted(name)} = ?`).join(', ');
  const [namespace, journal, ...values] = valuesOf(row);
  const sql = `UPDATE _journals SET ${changes} WHERE namespace = ? AND journal = ?`;
  await connection.run(sql, [...values, namespace as string, journal as string]);
}

/** Sets the row as given; for a transaction. */
export async function writeQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  await insertQueue(connection, row);
  await changeQueue(connection, row);
}

/** Adds a row of an older format; for a transaction. One that is there goes on where the further of both is. */
export async function mergeQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  await insertQueue(connection, row);
  const known = await readQueue(connection, row, { lock: true });
  if (known !== null) await changeQueue(connection, laterPlace(row, known));
}

export async function moveQueue(connection: SchemaConnection, of: Journal, position: number): Promise<void> {
  const set = `${connection.quoted('position')} = ?, written_at = ${connection.dialect.nowMsSql}`;
  const sql = `UPDATE _journals SET ${set} WHERE namespace = ? AND journal = ?`;
  await connection.kept(sql, [position, of.namespace, of.journal]);
}
