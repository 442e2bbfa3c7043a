import { type JournalNote, readJournalNote } from '../cluster/journal-notes.ts';
import type { SidecarRow } from '../engine/cluster/cluster-calls.ts';
import type { Engine } from '../engine/engine.ts';
import type { ListedQueue } from '../engine/queues.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import type { CommandIo } from './command-process.ts';
import { alignedLines } from './lines.ts';

/** A journal's place in a namespace, with what its sidecar has told about it. */
interface ListedPlace {
  readonly queue: ListedQueue;
  readonly isOwn: boolean;
  /** Null for a sidecar of an older version. */
  readonly note: JournalNote | null;
  /** Row of its sidecar; null if it has ended, or was not seen for a day. */
  readonly sidecar: SidecarRow | null;
}

/** Every journal of the database, for `queue list`. @param own journal of the configuration; null if there is none yet */
export async function listJournals(engine: Engine, own: string | null, io: CommandIo): Promise<void> {
  const places = await placesOf(engine, own);
  if (!io.isForPeople) {
    for (const place of places) io.print(jsonLine(place));
    return;
  }
  const shown = places.filter(({ note }) => note?.isForgotten !== true);
  const header = ['NAMESPACE', 'JOURNAL', 'POSITION', 'LAST WRITE', 'SIDECAR'];
  const cells = shown.map(({ queue, ...place }) => {
    return [queue.namespace, queue.journal, String(queue.position), ageOf(queue), sidecarOf(place)];
  });
  const lines = alignedLines(header, cells, ['POSITION']);
  for (const line of shown.length === 0 ? ['no namespace has a queue'] : lines) io.print(line);
  const hidden = places.length - shown.length;
  if (hidden > 0) io.print(`not shown: ${hidden} of forgotten journals; --json has them`);
}

async function placesOf(engine: Engine, own: string | null): Promise<ListedPlace[]> {
  const queues = await patiently(() => engine.queues.listQueues(null, statementBounds()));
  const sidecars = await patiently(() => engine.cluster.listSidecars(statementBounds()));
  const notes = new Map<string, JournalNote | null>();
  for (const journal of new Set(queues.map((queue) => queue.journal))) {
    notes.set(journal, await patiently(() => readJournalNote(engine, journal, statementBounds())));
  }
  return queues.map((queue) => {
    const note = notes.get(queue.journal) ?? null;
    const sidecar = sidecars.find(({ instance }) => instance === note?.instance) ?? null;
    return { queue, isOwn: queue.journal === own, note, sidecar };
  });
}

function jsonLine({ queue, isOwn, note, sidecar }: ListedPlace): string {
  const { namespace, journal, token, position, writtenMsAgo } = queue;
  const ageSeconds = writtenMsAgo === null ? null : Math.floor(writtenMsAgo / 1000);
  const state = { box: note?.box || null, state: stateOf(note, sidecar), waiting: leftOf(note) };
  return JSON.stringify({ namespace, journal, isOwn, token, position, ageSeconds, ...state });
}

type JournalState = 'forgotten' | 'unknown' | 'stopped' | 'gone' | 'seen';

/** Whether a sidecar that was seen lives is known only by one that runs. */
function stateOf(note: JournalNote | null, sidecar: SidecarRow | null): JournalState {
  if (note === null) return 'unknown';
  if (note.isForgotten) return 'forgotten';
  if (!note.isRunning) return 'stopped';
  return sidecar === null ? 'gone' : 'seen';
}

/** Queued writes that a stop has left; null if that is not known. */
function leftOf(note: JournalNote | null): number | null {
  return note === null || note.isRunning || note.isForgotten ? null : note.waiting;
}

function sidecarOf({ isOwn, note, sidecar }: Omit<ListedPlace, 'queue'>): string {
  const box = isOwn ? 'this configuration' : (note?.box ?? '');
  const state = stateOf(note, sidecar);
  switch (state) {
    case 'seen':
      return `${box}, seen ${new Date(sidecar?.seenAt ?? 0).toISOString()} by its own clock`;
    case 'stopped':
      return note?.waiting === 0
        ? `${box}, stopped with nothing left`
        : `${box}, stopped; ${note?.waiting} writes wait`;
    case 'gone':
      return `${box}, gone without an end; its writes may wait`;
    case 'unknown':
    case 'forgotten':
      return isOwn ? box : 'not known';
    default:
      return state satisfies never;
  }
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

function ageOf({ writtenMsAgo }: ListedQueue): string {
  if (writtenMsAgo === null) return 'never';
  const seconds = Math.floor(writtenMsAgo / 1000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}
