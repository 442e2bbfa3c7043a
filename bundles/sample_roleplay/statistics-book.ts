import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Deeds of a character between two saves. */
export interface Deeds {
  readonly seconds: number;
  readonly metres: number;
  readonly kills: number;
}

/** Amounts that one save adds to a character's row. */
export interface Note extends Deeds {
  readonly id: string;
  readonly character: number;
}

/** Sums of all saves. */
export interface Sums extends Deeds {
  readonly saves: number;
}

export const NO_SUMS: Sums = { saves: 0, seconds: 0, metres: 0, kills: 0 };

interface Header {
  readonly server: string;
  readonly saved: Sums;
}

/** After so many lines the file is written again, as short as it can be. */
const MOST_LINES = 20_000;

/**
 * Book of the saves that this server has sent to the database, in a file of its own beside it: a save is noted before it is sent, and
 * ticked off when it was acknowledged. So the audit compares two records that know nothing of each other, and after a
 * crash it is known which saves had no answer yet.
 *
 * A line for each event: `{"server","saved"}` at the top, then a note, or `{"done":[id]}`.
 */
export class StatisticsBook {
  /** Names this server in the database: nobody else adds to its rows. */
  readonly server: string;
  readonly #file: string;
  readonly #unanswered: Map<string, Note>;
  #saved: Sums;
  #lines = 0;

  constructor(file: string, { server, saved }: Header, unanswered: Map<string, Note>) {
    this.#file = file;
    this.server = server;
    this.#saved = saved;
    this.#unanswered = unanswered;
  }

  /** @param isNew begins a new book, whatever the file holds: there is nothing in the database that it could be about */
  static async open(file: string, isNew: boolean): Promise<StatisticsBook> {
    await mkdir(dirname(file), { recursive: true });
    const book = isNew ? newBook(file) : await readBook(file);
    await book.#writeAnew();
    return book;
  }

  /** The sums of what was acknowledged. */
  get saved(): Sums {
    return this.#saved;
  }

  /** Saves without an answer, at most one a character: they may or may not have happened. */
  get unanswered(): readonly Note[] {
    return [...this.#unanswered.values()];
  }

  /** Resolves when the notes are on disk, a power failure included: only then they may be sent. */
  async write(notes: readonly Note[]): Promise<void> {
    if (this.#lines > MOST_LINES) await this.#writeAnew();
    await this.#append(notes, true);
    for (const note of notes) this.#unanswered.set(note.id, note);
  }

  /** They were acknowledged. Losing this line does no harm: the row in the database bears the id of its last save. */
  async tickOff(notes: readonly Note[]): Promise<void> {
    if (notes.length === 0) return;
    await this.#append([{ done: notes.map(({ id }) => id) }], false);
    for (const note of notes) {
      this.#unanswered.delete(note.id);
      this.#saved = addNote(this.#saved, note);
    }
  }

  async #append(lines: readonly object[], flush: boolean): Promise<void> {
    this.#lines += lines.length;
    await appendFile(this.#file, textOf(lines), { flush });
  }

  /** Beside the old one, and then in its place: there is no moment without a whole book. */
  async #writeAnew(): Promise<void> {
    const header: Header = { server: this.server, saved: this.#saved };
    const lines = [header, ...this.#unanswered.values()];
    await writeFile(`${this.#file}.new`, textOf(lines), { flush: true });
    await rename(`${this.#file}.new`, this.#file);
    this.#lines = lines.length;
  }
}

function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function newBook(file: string): StatisticsBook {
  return new StatisticsBook(file, { server: randomUUID(), saved: NO_SUMS }, new Map());
}

async function readBook(file: string): Promise<StatisticsBook> {
  const text = await readIfThere(file);
  if (text === undefined) return newBook(file);
  // A last line without its end was being written when the server died. Nothing that it says was sent.
  const [header, ...lines] = text
    .split('\n')
    .slice(0, -1)
    .map((line) => parseLine(file, line));
  const { server } = header as Header;
  let { saved } = header as Header;
  const unanswered = new Map<string, Note>();
  for (const line of lines as (Note | { readonly done: readonly string[] })[]) {
    if (!('done' in line)) {
      unanswered.set(line.id, line);
      continue;
    }
    for (const id of line.done) {
      const note = unanswered.get(id);
      if (note !== undefined) saved = addNote(saved, note);
      unanswered.delete(id);
    }
  }
  return new StatisticsBook(file, { server, saved }, unanswered);
}

function addNote(sums: Sums, { seconds, metres, kills }: Note): Sums {
  return addSums(sums, { saves: 1, seconds, metres, kills });
}

export function addSums(a: Sums, b: Sums): Sums {
  return {
    saves: a.saves + b.saves,
    seconds: a.seconds + b.seconds,
    metres: a.metres + b.metres,
    kills: a.kills + b.kills,
  };
}

function parseLine(file: string, line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    throw new Error(`${file} is damaged. Move it away, and a new one begins`);
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
