import type { Engine } from '../engine/engine.ts';
import { type DeadLetter, MAX_PAST_OWNERS, type PastOwner, type QueueRow } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { patiently, statementBounds } from './patience.ts';
import { type CopyEngines, MoveRefused, type MoveReport } from './report.ts';

/** Data of write-behind for a namespace beside its rows (docs/write-behind.md). */
export interface NamespaceQueue {
  readonly row: QueueRow | null;
  /** Oldest first. */
  readonly letters: readonly DeadLetter[];
}

/** Characters of dead letters that are written at once; more only if a single letter is longer. */
const BATCH_CHARS = 1_048_576;

export async function readNamespaceQueue(engine: Engine, namespace: string): Promise<NamespaceQueue> {
  const row = await patiently(() => engine.queues.readQueue(namespace, statementBounds()));
  const letters = await patiently(() => engine.queues.listLetters(namespace, statementBounds()));
  return { row, letters };
}

/**
 * For a namespace that is held. @throws MoveRefused if a write of the queue was cut off in its middle: the copied rows
 * would no longer know that, and it would be done twice.
 */
export async function refuseHalfApplied(engine: Engine, { namespace }: StoredSchema): Promise<void> {
  const row = await patiently(() => engine.queues.readQueue(namespace, statementBounds()));
  if (row === null || !(await patiently(() => engine.transfer.hasHalfApplied(row, statementBounds())))) return;
  throw new MoveRefused(
    `a queued write of namespace ${namespace} was cut off in its middle; start the sidecar with journal ${row.journal} on the source, which ends it, then run the same command again`,
  );
}

/**
 * Copies queue row and dead letters after all rows: the owner of the queue goes on in the target exactly where the copied
 * rows are. Writes that stay as another journal's are reported.
 */
export async function copyQueue(
  { from, to }: CopyEngines,
  namespace: string,
  report: Pick<MoveReport, 'say'>,
): Promise<void> {
  const source = await readNamespaceQueue(from, namespace);
  const there = await readNamespaceQueue(to, namespace);
  await copyLetters(to, source, there);
  const row = mergedQueue(source.row, there.row);
  if (row === null) return;
  await patiently(() => to.transfer.writeQueue(row, statementBounds()));
  for (const line of told(source, row)) report.say(`${namespace}: ${line}`);
}

/** A letter that an earlier run has copied and the source no longer has would be done twice by a retry. */
export async function copyLetters(engine: Engine, source: NamespaceQueue, there: NamespaceQueue): Promise<void> {
  const known = new Set(source.letters.map(({ id }) => id));
  const journals = new Set(source.row === null ? [] : ownerships(source.row).map(({ journal }) => journal));
  const gone = there.letters.filter(({ id }) => journals.has(id.split('-', 1)[0] ?? '') && !known.has(id));
  for (const { id } of gone) await patiently(() => engine.queues.discardLetter(id, statementBounds()));
  for (const batch of batches(source.letters)) {
    await patiently(() => engine.queues.addLetters(batch, statementBounds()));
  }
}

function batches(letters: readonly DeadLetter[]): DeadLetter[][] {
  const made: DeadLetter[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const letter of letters) {
    const { length } = letter.payload;
    if (chars + length > BATCH_CHARS) {
      made.push([]);
      chars = 0;
    }
    made.at(-1)?.push(letter);
    chars += length;
  }
  return made;
}

function told({ row: from, letters }: NamespaceQueue, to: QueueRow): string[] {
  const lines = letters.length === 0 ? [] : [`${letterCount(letters)} came along`];
  if (from === null || from.journal === null) return lines;
  if (from.journal === to.journal && from.token === to.token) {
    return [
      ...lines,
      `its queue comes along, applied up to position ${to.position}; journal ${to.journal} goes on there`,
    ];
  }
  return [
    ...lines,
    `its queue stays with ${to.journal === null ? 'nobody' : `journal ${to.journal}`} in the target, whose token ${to.token} is higher; what journal ${from.journal} still holds becomes dead letters there`,
  ];
}

export function letterCount(letters: readonly DeadLetter[]): string {
  return letters.length === 1 ? '1 dead letter' : `${letters.length} dead letters`;
}

/** Differences between the queues of two equal namespaces; an empty list if they are equal. */
export function queueDifferences(from: NamespaceQueue, to: NamespaceQueue): string[] {
  const differences: string[] = [];
  const [one, other] = [from.row, to.row];
  if (one !== null && other !== null && isOneOwnership(one, other) && one.position !== other.position) {
    differences.push(`its queue is at position ${one.position} in the source and ${other.position} in the target`);
  }
  if (JSON.stringify(idsOf(from)) !== JSON.stringify(idsOf(to))) {
    differences.push(`${letterCount(from.letters)} in the source, ${letterCount(to.letters)} in the target`);
  }
  return differences;
}

function isOneOwnership(one: QueueRow, other: QueueRow): boolean {
  return one.journal !== null && one.journal === other.journal && one.token === other.token;
}

function idsOf({ letters }: NamespaceQueue): string[] {
  return letters.map(({ id }) => id).toSorted();
}

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

/** All who have owned the queue, oldest first. */
export function ownerships({ journal, token, position, past }: QueueRow): PastOwner[] {
  return journal === null ? [...past] : [...past, { journal, token, position }];
}

/** If two entries describe the same ownership, the later one counts. */
function pastOf(owners: readonly PastOwner[], now: QueueRow): PastOwner[] {
  const byOwnership = new Map(owners.map((owner) => [`${owner.journal} ${owner.token}`, owner]));
  if (now.journal !== null) byOwnership.delete(`${now.journal} ${now.token}`);
  return [...byOwnership.values()].toSorted((a, b) => a.token - b.token).slice(-MAX_PAST_OWNERS);
}
