import { burial, givenUp, owned } from '#engine/model/queue-ownership.ts';
import type { Orphan, PastOwner, QueueOwner, QueueRow } from '#engine/queues.ts';
import type { SchemaConnection } from '../schema/connection.ts';
import { addLetter } from './letters.ts';

/** The row of `_queues`; `lock` keeps it as it is until the transaction ends. */
export async function readQueue(
  connection: SchemaConnection,
  namespace: string,
  { lock = false } = {},
): Promise<QueueRow | null> {
  const columns = connection.list(['journal', 'token', 'position', 'past']);
  const sql = `SELECT ${columns} FROM _queues WHERE namespace = ?${lock ? connection.dialect.lockRowsSql : ''}`;
  const [row] = await connection.kept(sql, [namespace]);
  if (row === undefined) return null;
  const [journal, token, position, past] = row;
  return {
    namespace,
    journal: journal === null ? null : String(journal),
    token: Number(token),
    position: Number(position),
    past: JSON.parse(String(past)) as PastOwner[],
  };
}

/** For a transaction. */
export async function ownQueue(
  connection: SchemaConnection,
  place: { readonly namespace: string; readonly journal: string },
  from: 'nobody' | 'anybody',
): Promise<QueueRow> {
  const { namespace, journal } = place;
  if ((await readQueue(connection, namespace)) === null) {
    const keep = connection.dialect.keepSql('namespace');
    const columns = connection.list(['namespace', 'journal', 'token', 'position', 'past']);
    await connection.run(`INSERT INTO _queues (${columns}) VALUES (?, NULL, 0, 0, '[]') ${keep}`, [namespace]);
  }
  const row = await readQueue(connection, namespace, { lock: true });
  const next = owned(row, namespace, journal, from);
  if (next !== row) await changeQueue(connection, next);
  return next;
}

/** For a transaction. */
export async function releaseQueue(connection: SchemaConnection, owner: QueueOwner): Promise<void> {
  const row = await readQueue(connection, owner.namespace, { lock: true });
  if (row === null) return;
  const next = givenUp(row, owner);
  if (next !== row) await changeQueue(connection, next);
}

/** For a transaction. */
export async function buryOrphans(
  connection: SchemaConnection,
  owner: QueueOwner,
  orphans: readonly Orphan[],
): Promise<void> {
  const row = await readQueue(connection, owner.namespace, { lock: true });
  const { letters, row: next } = burial(row, owner, orphans);
  for (const letter of letters) await addLetter(connection, letter);
  if (next !== null && next !== row) await changeQueue(connection, next);
}

async function changeQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  const changes = ['journal', 'token', 'position', 'past'].map((name) => `${connection.quoted(name)} = ?`).join(', ');
  const { namespace, journal, token, position, past } = row;
  const values = [journal, token, position, JSON.stringify(past), namespace];
  await connection.run(`UPDATE _queues SET ${changes} WHERE namespace = ?`, values);
}

/** Replaces the row, whatever its owner; for a transaction. */
export async function writeQueue(connection: SchemaConnection, row: QueueRow): Promise<void> {
  const { namespace, journal, token, position, past } = row;
  const columns = connection.list(['namespace', 'journal', 'token', 'position', 'past']);
  await connection.run('DELETE FROM _queues WHERE namespace = ?', [namespace]);
  const values = [namespace, journal, token, position, JSON.stringify(past)];
  await connection.run(`INSERT INTO _queues (${columns}) VALUES (?, ?, ?, ?, ?)`, values);
}

export async function moveQueue(connection: SchemaConnection, namespace: string, position: number): Promise<void> {
  const sql = `UPDATE _queues SET ${connection.quoted('position')} = ? WHERE namespace = ?`;
  await connection.kept(sql, [position, namespace]);
}
