import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type JournalNote, readJournalNote, writeRequest } from '../cluster/journal-notes.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';

/** Longest wait for the other boxes: they look for a request every 2 s, and may write for 10 s. */
const ANSWER_MS = 15_000;
const ASK_AGAIN_MS = 100;
/** Longest wait for the backup of another box that asks at the same time. */
const TURN_MS = 20_000;
const LEASE = 'queued writes';

type Notes = ReadonlyMap<string, JournalNote | null>;

/** A journal of another box whose queued writes a backup may lack. */
export interface JournalNotHeld {
  readonly journal: string;
  /** Host name; null if it is not known. */
  readonly box: string | null;
  /** Number of queued writes; null if it is not known, as the box does not answer. */
  readonly waiting: number | null;
}

/**
 * Has the other boxes of the database apply what waits in their journals, which a backup of this box cannot read. Returns
 * the journals from which queued writes may be missing in rows that are read after this.
 */
export async function settleOtherJournals(
  engine: Engine,
  own: string | null,
  signal: AbortSignal,
): Promise<JournalNotHeld[]> {
  const queues = await patiently(() => engine.queues.listQueues(null, statementBounds()));
  const others = [...new Set(queues.map(({ journal }) => journal))].filter((journal) => journal !== own);
  const { known, answered } = await settleJournals(engine, others, signal);
  return others.flatMap((journal) => notHeld(journal, answered.get(journal) ?? null, known.get(journal) ?? null));
}

interface SettledJournals {
  /** Notes before the request. */
  readonly known: Notes;
  /** Notes of the sidecars that have carried it out: they live. */
  readonly answered: Notes;
}

/**
 * Has the sidecars of these journals apply what waits. Those that may live get 15 s for it. `isEnough` ends the wait before all of
 * them have answered.
 */
export async function settleJournals(
  engine: Engine,
  journals: readonly string[],
  signal: AbortSignal,
  isEnough: (answered: Notes) => boolean = () => false,
): Promise<SettledJournals> {
  const known = await notesOf(engine, journals);
  if (journals.length === 0) return { known, answered: new Map() };
  const sidecars = await patiently(() => engine.cluster.listSidecars(statementBounds()));
  const present = new Set(sidecars.map(({ instance }) => instance));
  const asked = journals.filter((journal) => {
    const note = known.get(journal);
    return note?.isRunning === true && present.has(note.instance);
  });
  return { known, answered: asked.length === 0 ? new Map() : await answersOf(engine, asked, signal, isEnough) };
}

/** For the owner, when the backup is made. */
export function tellNotHeld(one: JournalNotHeld): string {
  const { journal, waiting } = one;
  const place = placeOf(one);
  if (waiting !== null) return `${waiting} queued writes in ${place} are not in the backup`;
  const advice = `start its sidecar, or run: queue forget ${journal}, if the journal is gone`;
  return `queued writes that may wait in ${place} are not in the backup, as no sidecar answers for it: ${advice}`;
}

/** For the owner, when the backup is restored. */
export function tellLacking(one: JournalNotHeld): string {
  const writes = one.waiting === null ? 'queued writes that may have waited' : `${one.waiting} queued writes`;
  return `the backup lacks ${writes} in ${placeOf(one)}; they become dead letters when a sidecar starts with that journal`;
}

function placeOf({ journal, box }: JournalNotHeld): string {
  return box === null ? `the journal ${journal}` : `the journal ${journal} of ${box}`;
}

function notHeld(journal: string, answer: JournalNote | null, known: JournalNote | null): JournalNotHeld[] {
  const note = answer ?? known;
  if (note?.isForgotten === true) return [];
  const isCounted = answer !== null || note?.isRunning === false;
  const waiting = isCounted ? (note?.waiting ?? null) : null;
  return waiting === 0 ? [] : [{ journal, box: note?.box ?? null, waiting }];
}

/** Notes of the boxes that have carried out a request, at most `ANSWER_MS` later; one backup at a time. */
async function answersOf(
  engine: Engine,
  journals: readonly string[],
  signal: AbortSignal,
  isEnough: (answered: Notes) => boolean,
): Promise<Notes> {
  const lease = await engine.leases.hold(LEASE, { deadline: performance.now() + TURN_MS }, TURN_MS);
  if (lease === null) return new Map();
  const request = randomUUID();
  const deadline = performance.now() + ANSWER_MS;
  try {
    await writeRequest(engine, request, statementBounds());
    for (;;) {
      const notes = new Map([...(await notesOf(engine, journals))].filter(([, note]) => note?.request === request));
      if (notes.size === journals.length || isEnough(notes) || performance.now() > deadline) return notes;
      await wait(ASK_AGAIN_MS, undefined, { signal });
    }
  } finally {
    await writeRequest(engine, null, statementBounds()).catch(() => {});
    await lease.release();
  }
}

async function notesOf(engine: Engine, journals: readonly string[]): Promise<Notes> {
  const notes = new Map<string, JournalNote | null>();
  for (const journal of journals) {
    notes.set(journal, await patiently(() => readJournalNote(engine, journal, statementBounds())));
  }
  return notes;
}
