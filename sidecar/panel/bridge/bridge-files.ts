import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BridgeLine } from './bridge-line.ts';

const MEGABYTE = 1_000_000;
const DAY_MS = 86_400_000;
/** A file ends here, so that what goes first by size is never much. */
const FILE_BYTES = 8 * MEGABYTE;
const NAME = /^\d{4}-\d{2}-\d{2}-\d{4}\.ndjson$/;

export interface BridgeLimits {
  readonly retentionDays: number;
  readonly maxMegabytes: number;
}

/** The lines of other machines: files of a day each, `YYYY-MM-DD-NNNN.ndjson`, the oldest of which go by age and size. */
export class BridgeFiles {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #limits: () => BridgeLimits;
  #bytes = 0;
  /** One at a time, in the order of arrival. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(folder: string, limits: () => BridgeLimits, now: () => number) {
    this.#folder = folder;
    this.#limits = limits;
    this.#now = now;
  }

  get megabytes(): number {
    return Math.round((this.#bytes / MEGABYTE) * 10) / 10;
  }

  /** Resolves once the lines are in a file. */
  append(lines: readonly BridgeLine[]): Promise<void> {
    return this.#inOrder(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await appendFile(join(this.#folder, await this.#current()), text, { mode: 0o600 });
      await this.#tidy();
    });
  }

  /** Removes what is too old or too much. */
  tidy(): Promise<void> {
    return this.#inOrder(() => this.#tidy());
  }

  /** The lines of the newest files first; within a file newest first. */
  async *newestFirst(): AsyncGenerator<BridgeLine> {
    for (const name of (await this.#names()).reverse()) {
      const text = await readFile(join(this.#folder, name), 'utf8').catch(() => '');
      for (const line of text.split('\n').reverse()) {
        const read = parsed(line);
        if (read !== null) yield read;
      }
    }
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }

  async #current(): Promise<string> {
    const day = new Date(this.#now()).toISOString().slice(0, 10);
    const last = (await this.#names()).filter((name) => name.startsWith(day)).at(-1);
    if (last === undefined) return `${day}-0001.ndjson`;
    const { size } = await stat(join(this.#folder, last));
    if (size < FILE_BYTES) return last;
    return `${day}-${String(Number(last.slice(11, 15)) + 1).padStart(4, '0')}.ndjson`;
  }

  async #tidy(): Promise<void> {
    const { retentionDays, maxMegabytes } = this.#limits();
    const oldest = new Date(this.#now() - retentionDays * DAY_MS).toISOString().slice(0, 10);
    let bytes = 0;
    for (const name of (await this.#names()).reverse()) {
      const path = join(this.#folder, name);
      const { size } = await stat(path);
      const isTooMuch = bytes + size > maxMegabytes * MEGABYTE;
      if (name.slice(0, 10) < oldest || isTooMuch) await rm(path, { force: true });
      else bytes += size;
    }
    this.#bytes = bytes;
  }

  /** Oldest first. */
  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    return names.filter((name) => NAME.test(name)).sort();
  }
}

/** A line that a power failure cut short is passed by. */
function parsed(line: string): BridgeLine | null {
  if (line === '') return null;
  try {
    return JSON.parse(line) as BridgeLine;
  } catch {
    return null;
  }
}
