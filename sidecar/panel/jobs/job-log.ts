import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobLogLine } from '../shapes/jobs.ts';

/** Bound of the log of one job. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_LINES = 500;
const FLUSH_MS = 100;
const LINE_FEED = 10;
const FULL = 'The log of this job is full; later lines are not kept.';

/** Logs of jobs, a file each: `TIME TEXT` a line; the number of a line is its place in the file. */
export class JobLogs {
  readonly #folder: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Continues the file of a job that a crash has interrupted. */
  open(id: string): JobLog {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return new JobLog(this.#fileOf(id), this.#now);
  }

  /** Lines after number `after`. */
  async read(id: string, after: number): Promise<{ readonly log: JobLogLine[]; readonly more: boolean }> {
    const bytes = await readFile(this.#fileOf(id)).catch(() => Buffer.alloc(0));
    let start = 0;
    for (let seq = 1; seq <= after; seq += 1) {
      const end = bytes.indexOf(LINE_FEED, start);
      if (end === -1) return { log: [], more: false };
      start = end + 1;
    }
    const log: JobLogLine[] = [];
    for (let end = bytes.indexOf(LINE_FEED, start); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      if (log.length === MAX_PAGE_LINES) return { log, more: true };
      log.push(lineOf(after + log.length + 1, bytes.toString('utf8', start, end)));
      start = end + 1;
    }
    return { log, more: false };
  }

  remove(id: string): void {
    rmSync(this.#fileOf(id), { force: true });
  }

  /** Removes the files of all other jobs. */
  keepOnly(ids: ReadonlySet<string>): void {
    if (!existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder)) {
      if (name.endsWith('.log') && !ids.has(name.slice(0, -4))) rmSync(join(this.#folder, name), { force: true });
    }
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.log`);
  }
}

function lineOf(seq: number, line: string): JobLogLine {
  const [time = '', ...words] = line.split(' ');
  return { seq, time, text: words.join(' ') };
}

/** Gathers lines of a running job and appends them off the panel's thread. A disk that is full loses lines, not the job. */
export class JobLog {
  readonly #file: string;
  readonly #now: () => number;
  #bytes: number;
  #waiting = '';
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    this.#bytes = bytes.length;
    // A line that a crash has cut off ends here.
    if (bytes.length > 0 && bytes.at(-1) !== LINE_FEED) this.#waiting = '\n';
  }

  add(text: string): void {
    if (this.#bytes > MAX_BYTES) return;
    const time = new Date(this.#now()).toISOString();
    const line = `${time} ${text}\n`;
    this.#bytes += Buffer.byteLength(line);
    this.#waiting += this.#bytes > MAX_BYTES ? `${time} ${FULL}\n` : line;
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** Resolves when all lines so far are in the file. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') {
      this.#writing = this.#writing.then(() => appendFile(this.#file, text, { mode: 0o600 })).catch(() => {});
    }
    return this.#writing;
  }
}
