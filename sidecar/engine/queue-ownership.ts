import { MAX_PAST_OWNERS, type PastOwner, type QueueOwner, type QueueRow } from './queues.ts';

/**
 * The row of a queue after a journal asked for it: of one that belongs to `nobody`, or to `anybody`. The very same row
 * where nothing changes.
 */
export function owned(row: QueueRow | null, namespace: string, journal: string, from: 'nobody' | 'anybody'): QueueRow {
  if (row === null) return { namespace, journal, token: 1, position: 0, past: [] };
  if (row.journal === journal || (row.journal !== null && from === 'nobody')) return row;
  return { namespace, journal, token: row.token + 1, position: 0, past: pastOf(row) };
}

/** The row after its owner gave it up; the very same where it is another's. */
export function givenUp(row: QueueRow, { journal, token }: QueueOwner): QueueRow {
  return row.journal === journal && row.token === token ? { ...row, journal: null, past: pastOf(row) } : row;
}

function pastOf({ journal, token, position, past }: QueueRow): readonly PastOwner[] {
  return journal === null ? past : [...past, { journal, token, position }].slice(-MAX_PAST_OWNERS);
}
