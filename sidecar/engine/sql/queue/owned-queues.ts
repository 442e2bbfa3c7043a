import { type OwnedQueue, placesOfOwners } from '#engine/model/queue-places.ts';
import type { SchemaConnection } from '../schema/connection.ts';
import { mergeQueue } from './rows.ts';

/** Brings the rows of `_queues`, which versions before 2026-12 kept, to `_journals`; for a transaction. */
export async function bringOwnedQueues(connection: SchemaConnection, table: string): Promise<void> {
  const columns = connection.list(['namespace', 'journal', 'token', 'position', 'past']);
  const rows = await connection.rows(`SELECT ${columns} FROM ${connection.quoted(table)}`);
  for (const [namespace, journal, token, position, past] of rows) {
    const owned: OwnedQueue = {
      namespace: String(namespace),
      journal: journal === null ? null : String(journal),
      token: Number(token),
      position: Number(position),
      past: JSON.parse(String(past)),
    };
    for (const place of placesOfOwners(owned)) await mergeQueue(connection, place);
  }
}
