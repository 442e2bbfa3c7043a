import {
  type DeadLetter,
  MAX_PAST_PLACES,
  type Orphan,
  type PastPlace,
  type QueueOwner,
  type QueueRow,
} from '../queues.ts';

/** The row under a token that nothing was accepted under: entries of before are not applied any more. */
export function fenced(row: QueueRow, token = row.token + 1): QueueRow {
  return { ...row, token, position: 0, past: placesOf(row).slice(-MAX_PAST_PLACES) };
}

/** All places of a journal, oldest first. */
export function placesOf({ token, position, past }: QueueRow): readonly PastPlace[] {
  return [...past, { token, position }];
}

/** `places` and those of tokens that they do not name, oldest first. */
export function withOlder(places: readonly PastPlace[], others: readonly PastPlace[]): PastPlace[] {
  const isNamed = new Set(places.map(({ token }) => token));
  const added = others.filter(({ token }) => !isNamed.has(token));
  return [...places, ...added].toSorted((a, b) => a.token - b.token).slice(-MAX_PAST_PLACES);
}

export interface Burial {
  readonly letters: readonly DeadLetter[];
  /** The same object if nothing changes. */
  readonly row: QueueRow | null;
}

/**
 * Letters to add for the orphans of an older token, and the row after that. For a token that the row has forgotten all
 * letters are added.
 */
export function burial(row: QueueRow | null, { token }: QueueOwner, orphans: readonly Orphan[]): Burial {
  const last = orphans.at(-1);
  const known = row?.past.find((place) => place.token === token);
  if (row === null || known === undefined || last === undefined) return { letters: orphans.map(letterOf), row };
  const letters = orphans.filter(({ position }) => position > known.position).map(letterOf);
  if (letters.length === 0) return { letters, row };
  const past = row.past.map((place) => (place.token === token ? { token, position: last.position } : place));
  return { letters, row: { ...row, past } };
}

function letterOf({ letter }: Orphan): DeadLetter {
  return letter;
}

/** A row of `_queues`, in which versions before 2026-12 kept the one journal that owned a namespace's queue. */
export interface OwnedQueue {
  readonly namespace: string;
  readonly journal: string | null;
  readonly token: number;
  readonly position: number;
  readonly past: readonly (PastPlace & { readonly journal: string })[];
}

/** The places of all journals that the row names: each goes on where it was. */
export function placesOfOwners({ namespace, journal, token, position, past }: OwnedQueue): QueueRow[] {
  const owners = journal === null ? past : [...past, { journal, token, position }];
  return [...Map.groupBy(owners, (owner) => owner.journal)].map(([id, places]) => {
    const sorted = places.toSorted((a, b) => a.token - b.token).map((place) => [place.token, place.position] as const);
    const [last, ...before] = sorted.toReversed() as [readonly [number, number], ...(readonly [number, number])[]];
    const old = before.toReversed().map(([at, to]) => ({ token: at, position: to }));
    return { namespace, journal: id, token: last[0], position: last[1], past: old };
  });
}

/** Two rows of one journal in one namespace; positions only grow. */
export function laterPlace(one: QueueRow, other: QueueRow): QueueRow {
  const later = one.token > other.token ? one : other;
  return { ...later, position: Math.max(one.position, other.position) };
}
