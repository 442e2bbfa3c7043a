import { MAX_PAST_OWNERS, type PastOwner, type QueueRow } from '../engine/queues.ts';

/**
 * The queue's row for a target that takes the rows of a source. The journal that owns the source's queue goes on where
 * the copied rows are, so it needs the very token and position. Tokens never come again in a database, so a row of the
 * target with a higher one stays; what the other journal has not applied becomes dead letters there. How far each of
 * them came is kept: nothing that is in the copied rows is applied again, and none of it becomes a letter.
 */
export function mergedQueue(from: QueueRow | null, to: QueueRow | null): QueueRow | null {
  if (from === null || to === null) return from ?? to;
  const owner = hasPrecedence(from, to) ? from : to;
  return { ...owner, past: pastOf([...ownerships(to), ...ownerships(from)], owner) };
}

function hasPrecedence(from: QueueRow, to: QueueRow): boolean {
  return from.token > to.token || (from.token === to.token && from.journal !== null);
}

/** Of everybody who has owned the queue, oldest first. */
export function ownerships({ journal, token, position, past }: QueueRow): PastOwner[] {
  return journal === null ? [...past] : [...past, { journal, token, position }];
}

/** Of two that say something about one ownership the later one counts. */
function pastOf(owners: readonly PastOwner[], now: QueueRow): PastOwner[] {
  const byOwnership = new Map(owners.map((owner) => [`${owner.journal} ${owner.token}`, owner]));
  if (now.journal !== null) byOwnership.delete(`${now.journal} ${now.token}`);
  return [...byOwnership.values()].toSorted((a, b) => a.token - b.token).slice(-MAX_PAST_OWNERS);
}
