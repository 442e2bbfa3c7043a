import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { PanelError } from '../panel-error.ts';
import type { LogFolder } from './log-folder.ts';

/** Bound of simultaneous archives: each compresses up to a gigabyte. */
const MOST_ARCHIVES = 2;

/** All files of the console as a ZIP that is made while it is read, with one open file at a time. */
export async function openLogArchive(folder: LogFolder): Promise<Readable> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  let open: Readable | null = null;
  // A reader that disconnects must not leave a file open: the archive would wait for it for ever.
  output.on('close', () => open?.destroy());
  for (const { name, size, modified } of await folder.list()) {
    const options = { mtime: new Date(modified), mode: 0o100600 };
    zip.addReadStreamLazy(posix.join('logs', name), options, (give) => {
      openFile(folder, name, size).then((file) => {
        open = file;
        if (output.destroyed) file.destroy();
        else give(null, file);
      });
    });
  }
  zip.end();
  return output;
}

/** Reads the listed length, since the current file grows; empty if the file was swept meanwhile. */
async function openFile(folder: LogFolder, name: string, size: number): Promise<Readable> {
  const file = await folder.open(name).catch(() => null);
  if (file === null) return Readable.from([]);
  return file.createReadStream({ start: 0, end: Math.max(0, size - 1) });
}

/** Archives in progress, one per account, so that a reader that pauses does not block others. */
export class ArchivePlaces {
  readonly #accounts = new Set<number>();

  /** @throws PanelError `rate.limited` */
  async hold(accountId: number, work: () => Promise<void>): Promise<void> {
    if (this.#accounts.has(accountId) || this.#accounts.size >= MOST_ARCHIVES) {
      throw new PanelError('rate.limited', { retryAfterSeconds: 10 });
    }
    this.#accounts.add(accountId);
    try {
      await work();
    } finally {
      this.#accounts.delete(accountId);
    }
  }
}
