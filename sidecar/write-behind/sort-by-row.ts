import { placesOf } from '../engine/model/queue-places.ts';
import type { Orphan, QueueRow } from '../engine/queues.ts';
import type { JournalEntry, PendingEntry } from './journal/entries.ts';

/** Entries of a journal for one namespace, sorted by the queue's row in the database. */
interface Sorted<Entry> {
  /** Applied, or dead letters, by an attempt whose end this process has not seen. */
  readonly done: readonly Entry[];
  /** Accepted under an older token, for rows that were replaced since: never applied. */
  readonly orphans: readonly Entry[];
  /** To be applied. */
  readonly live: readonly Entry[];
}

/**
 * Sorts entries by the row. `isNew`: no attempt to apply the entry was made. If the row covers the position of a new entry,
 * it means another write, which a journal restored from a backup has forgotten.
 */
export function sortByRow<Entry extends PendingEntry>(
  row: QueueRow,
  entries: readonly Entry[],
  isNew: (entry: Entry) => boolean,
): Sorted<Entry> {
  const done: Entry[] = [];
  const orphans: Entry[] = [];
  const live: Entry[] = [];
  for (const entry of entries) {
    const isCovered = entry.position <= appliedUnder(row, entry.token);
    if (isCovered && !isNew(entry)) done.push(entry);
    // A token that the database has not issued yet is from before it was restored.
    else if (!isCovered && entry.token >= row.token) live.push(entry);
    else orphans.push(entry);
  }
  return { done, orphans, live };
}

/** Last position that was applied under the token. */
function appliedUnder(row: QueueRow, token: number): number {
  return placesOf(row).find((place) => place.token === token)?.position ?? 0;
}

/** The dead letter of an entry that is older than the rows that were restored. */
export function orphanOf({ position, id, namespace, kid, op, payload, time }: JournalEntry): Orphan {
  const message = `accepted before the rows of namespace ${namespace} were replaced by a restore or a copy`;
  const code = 'write_buffer_unavailable';
  return { position, letter: { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false } };
}
