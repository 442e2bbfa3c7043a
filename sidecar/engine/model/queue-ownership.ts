import {
  type DeadLetter,
  MAX_PAST_OWNERS,
  type Orphan,
  type PastOwner,
  type QueueOwner,
  type QueueRow,
} from '../queues.ts';

/**
 * The row after a journal asked for a queue that belongs to `nobody`, or to `anybody`. The same object if nothing
 * changes.
 */
export function owned(row: QueueRow | null, namespace: string, journal: string, from: 'nobody' | 'anybody'): QueueRow {
  if (row === null) return { namespace, journal, token: 1, position: 0, past: [] };
  if (row.journal === journal || (row.journal !== null && from === 'nobody')) return row;
  return { namespace, journal, token: row.token + 1, position: 0, past: pastOf(row) };
}

/** The row after its owner gave it up; the same object if it belongs to another owner. */
export function givenUp(row: QueueRow, { journal, token }: QueueOwner): QueueRow {
  return row.journal === journal && row.token === token ? { ...row, journal: null, past: pastOf(row) } : row;
}

export interface Burial {
  readonly letters: readonly DeadLetter[];
  /** The same object if nothing changes. */
  readonly row: QueueRow | null;
}

/**
 * Letters to add for a past owner's orphans, and the row after that. For an owner that the row has forgotten all
 * letters are added.
 */
export function burial(row: QueueRow | null, { journal, token }: QueueOwner, orphans: readonly Orphan[]): Burial {
  const last = orphans.at(-1);
  const isOwner = (owner: PastOwner) => owner.journal === journal && owner.token === token;
  const known = row?.past.find(isOwner);
  if (row === null || known === undefined || last === undefined) return { letters: orphans.map(letterOf), row };
  const letters = orphans.filter(({ position }) => position > known.position).map(letterOf);
  if (letters.length === 0) return { letters, row };
  const past = row.past.map((owner) => (isOwner(owner) ? { ...owner, position: last.position } : owner));
  return { letters, row: { ...row, past } };
}

function letterOf({ letter }: Orphan): DeadLetter {
  return letter;
}

function pastOf({ journal, token, position, past }: QueueRow): readonly PastOwner[] {
  return journal === null ? past : [...past, { journal, token, position }].slice(-MAX_PAST_OWNERS);
}
