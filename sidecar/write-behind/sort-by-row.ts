import type { Orphan, QueueRow } from '../engine/queues.ts';
import type { JournalEntry, PendingEntry } from './journal/entries.ts';

/** Entries of a journal for one namespace, sorted by the queue's row in the database. */
interface Sorted<Entry> {
  /** Applied, or dead letters, by an attempt whose end this process has not seen. */
  readonly done: readonly Entry[];
  /** Accepted under a token that this journal no longer owns the queue under: never applied. */
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
  journal: string,
  entries: readonly Entry[],
  isNew: (entry: Entry) => boolean,
): Sorted<Entry> {
  const done: Entry[] = [];
  const orphans: Entry[] = [];
  const live: Entry[] = [];
  for (const entry of entries) {
    const isCovered = entry.position <= appliedUnder(row, journal, entry.token);
    if (isCovered && !isNew(entry)) done.push(entry);
    else if (!isCovered && mayApply(row, journal, entry.token)) live.push(entry);
    else orphans.push(entry);
  }
  return { done, orphans, live };
}

/** A token that the database has not issued yet is from before the database was restored from a backup. */
function mayApply(row: QueueRow, journal: string, token: number): boolean {
  return row.journal === journal && token >= row.token;
}

/** Last position that was applied for the journal under the token. */
function appliedUnder(row: QueueRow, journal: string, token: number): number {
  if (row.journal === journal && row.token === token) return row.position;
  return row.past.find((owner) => owner.journal === journal && owner.token === token)?.position ?? 0;
}

/** The dead letter of an entry whose queue another journal has taken over. */
export function orphanOf({ position, id, namespace, kid, op, payload, time }: JournalEntry): Orphan {
  const message = `accepted while the queue of ${namespace} belonged to this journal, which another sidecar has taken over since`;
  const code = 'write_buffer_unavailable';
  return { position, letter: { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false } };
}
