import type { Engine } from '../engine/engine.ts';
import { fenced, placesOf, withOlder } from '../engine/model/queue-places.ts';
import type { DeadLetter, QueueRow } from '../engine/queues.ts';
import type { StoredSchema } from '../engine/schema-calls.ts';
import { patiently, statementBounds } from './patience.ts';
import { type CopyEngines, MoveRefused, type MoveReport } from './report.ts';

/** Data of write-behind for a namespace beside its rows (docs/write-behind.md). */
export interface NamespaceQueue {
  /** Places of the journals that have buffered the namespace. */
  readonly rows: readonly QueueRow[];
  /** Oldest first. */
  readonly letters: readonly DeadLetter[];
}

/** Characters of dead letters that are written at once; more only if a single letter is longer. */
const BATCH_CHARS = 1_048_576;

export async function readNamespaceQueue(engine: Engine, namespace: string): Promise<NamespaceQueue> {
  const listed = await patiently(() => engine.queues.listQueues(namespace, statementBounds()));
  const rows = listed.map(({ writtenMsAgo: _, ...row }): QueueRow => row);
  const letters = await patiently(() => engine.queues.listLetters(namespace, statementBounds()));
  return { rows, letters };
}

/**
 * For a namespace that is held. @throws MoveRefused if a write of the queue was cut off in its middle: the copied rows
 * would no longer know that, and it would be done twice.
 */
export async function refuseHalfApplied(engine: Engine, { namespace }: StoredSchema): Promise<void> {
  const { rows } = await readNamespaceQueue(engine, namespace);
  for (const row of rows) {
    if (!(await patiently(() => engine.transfer.hasHalfApplied(row, statementBounds())))) continue;
    throw new MoveRefused(
      `a queued write of namespace ${namespace} was cut off in its middle; start the sidecar with journal ${row.journal} on the source, which ends it, then run the same command again`,
    );
  }
}

/**
 * Copies the places of journals, and dead letters, after all rows: each journal goes on in the target exactly where the
 * copied rows are. Journals that are fenced in the target are reported.
 */
export async function copyQueue(
  { from, to }: CopyEngines,
  namespace: string,
  report: Pick<MoveReport, 'say'>,
): Promise<void> {
  const source = await readNamespaceQueue(from, namespace);
  const there = await readNamespaceQueue(to, namespace);
  await copyLetters(to, source, there);
  for (const row of mergedQueues(source.rows, there.rows)) {
    await patiently(() => to.transfer.writeQueue(row, statementBounds()));
    report.say(`${namespace}: ${told(source.rows, row)}`);
  }
  if (source.letters.length > 0) report.say(`${namespace}: ${letterCount(source.letters)} came along`);
}

/** A letter that an earlier run has copied and the source no longer has would be done twice by a retry. */
export async function copyLetters(engine: Engine, source: NamespaceQueue, there: NamespaceQueue): Promise<void> {
  const known = new Set(source.letters.map(({ id }) => id));
  const journals = new Set(source.rows.map(({ journal }) => journal));
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

function told(source: readonly QueueRow[], { journal, token, position }: QueueRow): string {
  const isSame = source.some((row) => row.journal === journal && row.token === token);
  if (isSame) return `its queue comes along, applied up to position ${position}; journal ${journal} goes on there`;
  return `journal ${journal} of the target has other rows now; what it still holds becomes dead letters there`;
}

export function letterCount(letters: readonly DeadLetter[]): string {
  return letters.length === 1 ? '1 dead letter' : `${letters.length} dead letters`;
}

/** Differences between the queues of two equal namespaces; an empty list if they are equal. */
export function queueDifferences(from: NamespaceQueue, to: NamespaceQueue): string[] {
  const differences: string[] = [];
  for (const one of from.rows) {
    const other = to.rows.find(({ journal, token }) => journal === one.journal && token === one.token);
    if (other === undefined || other.position === one.position) continue;
    differences.push(`its queue is at position ${one.position} in the source and ${other.position} in the target`);
  }
  if (JSON.stringify(idsOf(from)) !== JSON.stringify(idsOf(to))) {
    differences.push(`${letterCount(from.letters)} in the source, ${letterCount(to.letters)} in the target`);
  }
  return differences;
}

function idsOf({ letters }: NamespaceQueue): string[] {
  return letters.map(({ id }) => id).toSorted();
}

/**
 * Rows for a target that takes the rows of a source. A journal of the source goes on where the copied rows are, so it needs
 * the very token and position, but for a token that is higher in the target: entries of an older one are not applied there.
 * Other journals of the target are fenced: what they hold was meant for rows that are gone.
 */
export function mergedQueues(from: readonly QueueRow[], to: readonly QueueRow[]): QueueRow[] {
  const merged = from.map((row) => {
    const there = to.find(({ journal }) => journal === row.journal);
    if (there === undefined || there.token <= row.token) return row;
    return { ...fenced(row, there.token + 1), past: withOlder(placesOf(row), placesOf(there)) };
  });
  const isNamed = new Set(from.map(({ journal }) => journal));
  return [...merged, ...to.filter(({ journal }) => !isNamed.has(journal)).map((row) => fenced(row))];
}
