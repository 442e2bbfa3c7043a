import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';
import type { CallBounds } from '../engine/rows.ts';

/** Note of a sidecar about its journal of queued writes (`_meta`), for commands and backups of other boxes. */
export interface JournalNote {
  /** Instance of the sidecar. */
  readonly instance: string;
  readonly box: string;
  /** False after an end in order. */
  readonly isRunning: boolean;
  /** Queued writes that waited when the note was written. */
  readonly waiting: number;
  /** Id of the last request that the sidecar has carried out; empty for none. */
  readonly request: string;
  /** The owner has said that the journal is gone. Taken back by a sidecar that starts with it. */
  readonly isForgotten: boolean;
}

type Marks = { readonly transfer: Pick<Engine['transfer'], 'readMark' | 'writeMark'> };

/** Name of the request to all boxes to apply what waits in their journals. */
const REQUEST = 'journals:request';

const nameOf = (journal: string): string => `journal:${journal}`;

/** Null for a journal of a sidecar of an older version. */
export async function readJournalNote(engine: Marks, journal: string, bounds: CallBounds): Promise<JournalNote | null> {
  const text = await engine.transfer.readMark(nameOf(journal), bounds);
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json)) return null;
  const { instance, box, isRunning, waiting, request, isForgotten } = json;
  return {
    ...{ instance: String(instance), box: String(box), waiting: Number(waiting), request: String(request) },
    ...{ isRunning: isRunning === true, isForgotten: isForgotten === true },
  };
}

export function writeJournalNote(engine: Marks, journal: string, note: JournalNote, bounds: CallBounds): Promise<void> {
  return engine.transfer.writeMark(nameOf(journal), JSON.stringify(note), bounds);
}

/** Hides a journal from the owner's lists. Its place stays: none of its writes is done twice if it comes back. */
export async function forgetJournal(engine: Marks, journal: string, bounds: CallBounds): Promise<void> {
  const known = await readJournalNote(engine, journal, bounds);
  const note = known ?? { instance: '', box: '', isRunning: false, waiting: 0, request: '' };
  await writeJournalNote(engine, journal, { ...note, isForgotten: true }, bounds);
}

/** Null if no backup is waiting for the boxes. */
export function readRequest(engine: Marks, bounds: CallBounds): Promise<string | null> {
  return engine.transfer.readMark(REQUEST, bounds);
}

/** Null: nothing is wanted any more. */
export function writeRequest(engine: Marks, id: string | null, bounds: CallBounds): Promise<void> {
  return engine.transfer.writeMark(REQUEST, id, bounds);
}
