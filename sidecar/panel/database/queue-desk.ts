import type { DeadLetter } from '#engine/queues.ts';
import { isJsonObject, JsonError, parseJson } from '#protocol/json.ts';
import { letterProspect } from '#sidecar/write-behind/letter-prospect.ts';
import type { QueueOverview, WriteBuffer } from '#sidecar/write-behind/write-buffer.ts';
import { PanelError } from '../panel-error.ts';
import {
  type LetterInfo,
  type LettersAnswer,
  MAX_LETTER_CHARS,
  MAX_LETTERS,
  type NamespaceQueueInfo,
  type QueueAnswer,
  type QueueInfo,
} from '../shapes/database.ts';
import type { DatabaseAccess } from './database-access.ts';
import { asRefusal, onDatabase } from './refusals.ts';

/** Longer payloads are not parsed for the name of their table. */
const MAX_READ_CHARS = 16_384;
/** The queue is shown without the database, so the page must not wait long for it. */
const LETTERS_MS = 3000;

/** The write queue, and its failed writes. */
export class QueueDesk {
  readonly #access: DatabaseAccess;
  readonly #maxPending: number;

  constructor(access: DatabaseAccess, maxPending: number) {
    this.#access = access;
    this.#maxPending = maxPending;
  }

  /** Queues are known from the journal, also if the database is away; only failed writes are in the database. */
  async read(): Promise<QueueAnswer> {
    const { writeBuffer } = this.#access.parts;
    const letters = await this.#letters();
    return {
      queue: writeBuffer === null ? null : this.#queue(writeBuffer),
      letters: letters?.slice(0, MAX_LETTERS).map(letterInfo) ?? null,
      hasMoreLetters: letters !== null && letters.length > MAX_LETTERS,
    };
  }

  /** Requests a retry: a sidecar that buffers the namespace applies each in its turn, so that the queue keeps its order. */
  retry(ids: readonly string[]): Promise<LettersAnswer> {
    const { queues } = this.#access.parts.engine;
    return onDatabase(async () => {
      const letters = await queues.listLetters(null, this.#access.bounds(), MAX_LETTERS + 1);
      const wanted = letters.filter(({ id }) => ids.includes(id));
      const { done, gone } = await this.#each(ids, (id) => queues.wantRetry(id, this.#access.bounds()));
      const namespaces = [...new Set(wanted.map(({ namespace }) => namespace))];
      const prospects: LettersAnswer['prospects'][number][] = [];
      for (const namespace of namespaces) prospects.push({ namespace, prospect: await this.#prospect(namespace) });
      return { done, gone, prospects };
    });
  }

  discard(ids: readonly string[]): Promise<LettersAnswer> {
    const { queues } = this.#access.parts.engine;
    return onDatabase(async () => ({
      ...(await this.#each(ids, (id) => queues.discardLetter(id, this.#access.bounds()))),
      prospects: [],
    }));
  }

  /** Null if the database does not answer. */
  async #letters(): Promise<readonly DeadLetter[] | null> {
    const { queues } = this.#access.parts.engine;
    try {
      return await queues.listLetters(null, this.#access.bounds(LETTERS_MS), MAX_LETTERS + 1);
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal instanceof PanelError && refusal.key === 'database.failed') return null;
      throw refusal;
    }
  }

  async #each(ids: readonly string[], change: (id: string) => Promise<boolean>) {
    const done: string[] = [];
    const gone: string[] = [];
    for (const id of new Set(ids)) ((await change(id)) ? done : gone).push(id);
    return { done, gone };
  }

  async #prospect(namespace: string): Promise<'soon' | 'elsewhere' | 'waits'> {
    const { engine, writeBuffer } = this.#access.parts;
    const isBuffered = (name: string): boolean => writeBuffer?.isBuffered(name) ?? false;
    const { kind } = await letterProspect(namespace, { queues: engine.queues, isBuffered }, this.#access.bounds());
    if (kind !== 'served') return 'waits';
    const own = writeBuffer?.overview().find((queue) => queue.namespace === namespace);
    return own === undefined || own.isForeign ? 'elsewhere' : 'soon';
  }

  #queue(buffer: WriteBuffer): QueueInfo {
    const { pending, pendingBytes, oldestAgeSeconds, applied, deadLettered, journal } = buffer.figures();
    return {
      isAvailable: journal.isAvailable,
      ...{ pending, pendingBytes, oldestAgeSeconds, applied, deadLettered },
      maxPending: this.#maxPending,
      journalBytes: journal.bytesOnDisk,
      namespaces: buffer.overview().map(namespaceInfo),
    };
  }
}

function namespaceInfo(queue: QueueOverview): NamespaceQueueInfo {
  const { namespace, pending, oldestTime } = queue;
  return { namespace, pending, oldest: oldestTime === null ? null : isoOf(oldestTime), state: stateOf(queue) };
}

function stateOf({ isHalted, isForeign, isListed }: QueueOverview): NamespaceQueueInfo['state'] {
  if (isForeign) return 'lost';
  if (isHalted) return 'halted';
  return isListed ? 'well' : 'leftover';
}

function letterInfo(letter: DeadLetter): LetterInfo {
  const { id, namespace, op, payload, code, message, time, isRetryWanted } = letter;
  return {
    ...{ id, namespace, op, code, message, isRetryWanted },
    table: tableOf(payload),
    payload: payload.slice(0, MAX_LETTER_CHARS),
    isCut: payload.length > MAX_LETTER_CHARS,
    time: isoOf(time),
  };
}

function tableOf(payload: string): string | null {
  if (payload.length > MAX_READ_CHARS) return null;
  try {
    const json = parseJson(payload);
    return isJsonObject(json) && typeof json.table === 'string' ? json.table : null;
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
