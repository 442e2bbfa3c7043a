import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';

/** `2026-11-23T01-02-03Z-0001.log`: names sort in the order of writing. */
const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z-\d{4}\.log$/;

export interface LogFileInfo {
  readonly name: string;
  readonly size: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly modified: string;
  /** Start of the run; all parts of a run have the same. */
  readonly started: string;
}

export interface Retention {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** Files of a log. A name from a request is looked up in the list of files before it becomes a path. */
export class LogFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async make(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  /** Oldest first. Links and other files are not listed. */
  async list(): Promise<LogFileInfo[]> {
    const infos = await Promise.all((await this.#names()).map((name) => this.#info(name)));
    return infos.filter((info) => info !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws PanelError `logs.unknown` */
  async open(name: string): Promise<FileHandle> {
    // Without a look at each of them: a start opens all files of the latest lines, one after another.
    const isListed = (await this.#names()).includes(name) && (await this.#info(name)) !== null;
    if (!isListed) throw new PanelError('logs.unknown');
    try {
      return await open(join(this.path, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    } catch {
      throw new PanelError('logs.unknown');
    }
  }

  /** Removes files that are too old, then the oldest until the rest fits; never `inUse`. */
  async sweep(retention: Retention, inUse: string | null, now: number): Promise<void> {
    const files = await this.list();
    let bytes = files.reduce((sum, file) => sum + file.size, 0);
    for (const file of files) {
      const isOld = now - Date.parse(file.modified) > retention.maxAgeMs;
      if (file.name === inUse || !(isOld || bytes > retention.maxBytes)) continue;
      await rm(join(this.path, file.name), { force: true }).catch(() => {});
      bytes -= file.size;
    }
  }

  async #names(): Promise<string[]> {
    return (await readdir(this.path).catch(() => [])).filter((name) => NAME.test(name));
  }

  async #info(name: string): Promise<LogFileInfo | null> {
    const stats = await lstat(join(this.path, name)).catch(() => null);
    if (stats === null || !stats.isFile()) return null;
    return { name, size: stats.size, modified: stats.mtime.toISOString(), started: startOf(name) };
  }
}

function startOf(name: string): string {
  const [, day, hour, minute, second] = NAME.exec(name) as RegExpExecArray;
  return `${day}T${hour}:${minute}:${second}.000Z`;
}

/**
 * Names of new files. They only grow, also if two runs begin within a second or the clock was set back.
 */
export class LogNames {
  #stamp: string;
  #number: number;

  /** @param latest the last existing name, or null */
  constructor(latest: string | null) {
    this.#stamp = latest === null ? '' : latest.slice(0, -'-0001.log'.length);
    this.#number = latest === null ? 0 : Number(latest.slice(-'0001.log'.length, -'.log'.length));
  }

  ofRun(now: number): string {
    const stamp = `${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
    if (stamp <= this.#stamp) return this.ofNextPart();
    this.#stamp = stamp;
    this.#number = 0;
    return this.ofNextPart();
  }

  ofNextPart(): string {
    this.#number += 1;
    // Ten thousand files in one second: continue with the next second.
    if (this.#number > 9999) {
      this.#stamp = `${new Date(Date.parse(startOf(`${this.#stamp}-0001.log`)) + 1000).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
      this.#number = 1;
    }
    return `${this.#stamp}-${String(this.#number).padStart(4, '0')}.log`;
  }
}
