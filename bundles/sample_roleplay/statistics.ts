/**
 * Statistics: how long everybody has played, how far he has come, whom he has killed.
 *
 * They change all the time and nobody waits for them, so they live in a namespace of their own, `stats`, which the
 * owner of the sidecar may buffer (`writeBehind` in sidecar.json): a save is answered as soon as it is safe on the
 * sidecar's disk and reaches the database a moment later, or an hour later if the database is away. Where it is not
 * buffered everything here works as well; nothing asks.
 *
 * - What happens is added up in memory, for each character, and saved every second: many deeds are one call.
 * - A save adds (`inc`), and must not happen twice. It carries an idempotency key, and leaves its id in the row: who
 *   comes back after a lost answer, or a crash, looks there before sending it again.
 * - It is noted in a file before it is sent (statistics-book.ts). So the audit can tell whether anything that was
 *   acknowledged is missing, or there twice.
 * - It holds nothing up: while there is no answer, what players do is added up, and the evening goes on.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAsk, Outage, unlessAborted } from './ask.ts';
import type { Basics } from './basics.ts';
import { Gate } from './gate.ts';
import { describeStatistics } from './statistics-audit.ts';
import { type Deeds, type Note, StatisticsBook } from './statistics-book.ts';
import { declareStatistics } from './statistics-namespace.ts';
import { StatisticsTable } from './statistics-table.ts';

const SAVE_EVERY_MS = 1000;
/** So many saves are on their way at once, and are without an answer after a crash. */
const AT_ONCE = 16;
/** When the bundle stops, the last deeds are saved, if the database answers. */
const LAST_SAVE_MS = 2000;
const BOOK = 'data/sample_roleplay.statistics.jsonl';

interface Records {
  readonly book: StatisticsBook;
  readonly table: StatisticsTable;
}

export class Statistics {
  readonly #game: Pick<Basics, 'db' | 'log' | 'signal'>;
  readonly #vfs: string;
  readonly #outage: Outage;
  /** Saves pass it, the audit closes it. */
  readonly #gate = new Gate();
  /** Deeds that wait for the next save, by character. */
  readonly #deeds = new Map<number, Deeds>();
  #records: Records | undefined;
  #isOver = false;

  constructor(game: Pick<Basics, 'db' | 'log' | 'signal'>, vfs: string) {
    this.#game = game;
    this.#vfs = vfs;
    this.#outage = new Outage((line) => game.log(`statistics: ${line}`));
  }

  /** Waits for nothing. Without a namespace to keep it in, it is forgotten. */
  add(character: number, { seconds, metres, kills }: Deeds): void {
    if (this.#records === undefined) return;
    const soFar = this.#deeds.get(character) ?? { seconds: 0, metres: 0, kills: 0 };
    this.#deeds.set(character, {
      seconds: soFar.seconds + seconds,
      metres: soFar.metres + metres,
      kills: soFar.kills + kills,
    });
  }

  /** Saves until the bundle stops. Where that cannot be done it says why, and the evening goes on without. */
  async keep(): Promise<void> {
    const { signal, log } = this.#game;
    try {
      await this.begin();
      while (!signal.aborted) {
        await sleep(SAVE_EVERY_MS, undefined, { signal }).catch(() => {});
        const saved = this.save();
        if (!signal.aborted) await saved;
        else if (!(await within(LAST_SAVE_MS, saved))) log('statistics: the last moments could not be saved');
      }
    } catch (error) {
      if (!signal.aborted) log(`statistics are not kept: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#records = undefined;
      this.#isOver = true;
    }
  }

  /** Declares the namespace, waiting for the database as long as it takes, and opens the book. */
  async begin(): Promise<void> {
    const { db, log, signal } = this.#game;
    const ask = createAsk((line) => log(`statistics: ${line}`), signal);
    const isNew = await declareStatistics(this.#game, ask, this.#vfs);
    const book = await StatisticsBook.open(join(this.#vfs, BOOK), isNew);
    this.#records = { book, table: new StatisticsTable(db, this.#outage, book.server) };
  }

  /** False where there was no answer; what is left goes with the next time. */
  save(): Promise<boolean> {
    return this.#gate.move(() => this.#save());
  }

  /** Line that says whether the database holds what was acknowledged, no more and no less. */
  audit(): Promise<string> {
    return unlessAborted(
      this.#gate.still(async () => {
        if (this.#records === undefined) return `statistics are not kept${this.#isOver ? '' : ' yet'}`;
        const { book, table } = this.#records;
        const stored = (await this.#save()) && (await table.flush()) ? await table.read() : undefined;
        return stored === undefined
          ? `statistics not audited: ${this.#outage.code}, ${book.saved.saves.toLocaleString('en')} saves acknowledged`
          : describeStatistics(book.saved, stored);
      }),
      this.#game.signal,
    );
  }

  async #save(): Promise<boolean> {
    if (this.#records === undefined) return true;
    const { book, table } = this.#records;
    if (!(await resolveUnanswered(this.#records))) return false;
    for (let notes = this.#takeNotes(); notes.length > 0; notes = this.#takeNotes()) {
      await book.write(notes);
      const isDone = await Promise.all(notes.map((note) => table.add(note)));
      await book.tickOff(notes.filter((_, index) => isDone[index]));
      if (isDone.includes(false)) return false;
    }
    return true;
  }

  #takeNotes(): Note[] {
    const taken = [...this.#deeds].slice(0, AT_ONCE);
    for (const [character] of taken) this.#deeds.delete(character);
    return taken.map(([character, deeds]) => ({ id: randomUUID(), character, ...deeds }));
  }
}

/** The answer was lost, or this server died before it came: the row tells whether the save has happened. */
async function resolveUnanswered({ book, table }: Records): Promise<boolean> {
  if (book.unanswered.length > 0 && !(await table.flush())) return false;
  for (const note of book.unanswered) {
    const lastSave = await table.lastSave(note.character);
    if (lastSave === undefined) return false;
    if (lastSave !== note.id && !(await table.add(note))) return false;
    await book.tickOff([note]);
  }
  return true;
}

/** False where it takes longer. */
async function within(timeMs: number, work: Promise<boolean>): Promise<boolean> {
  const isOver = new AbortController();
  const late = sleep(timeMs, false, { signal: isOver.signal }).catch(() => false);
  return Promise.race([work, late]).finally(() => isOver.abort());
}
