import { randomUUID } from 'node:crypto';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';

/** Progress of one import, in the database that it fills. */
export interface ImportMark {
  /** A second import of the same file, after the first has ended, has another id. */
  readonly id: string;
  /** Batches that are in the table. The next one may be there too: its idempotency key tells. */
  readonly batches: number;
}

/** Null if no import of this file into this table was cut off. */
export async function readImportMark(engine: Engine, name: string): Promise<ImportMark | null> {
  const text = await patiently(() => engine.transfer.readMark(name, statementBounds()));
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json) || typeof json.id !== 'string' || typeof json.batches !== 'number') return null;
  return { id: json.id, batches: json.batches };
}

export async function writeImportMark(engine: Engine, name: string, mark: ImportMark | null): Promise<void> {
  const text = mark === null ? null : JSON.stringify(mark);
  await patiently(() => engine.transfer.writeMark(name, text, statementBounds()));
}

export function newImportMark(): ImportMark {
  return { id: randomUUID(), batches: 0 };
}
