import { createReadStream, renameSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderRemote } from '../../config/backup-remote.ts';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import { RemoteFailure, type RemoteObject, type RemoteStore } from './remote-store.ts';

/** Suffix of a file that is being written. */
const PARTIAL = '.partial';

/** A folder on another disk. It is never made: a disk that is not mounted is no place for backups. */
export class FolderStore implements RemoteStore {
  readonly place: string;
  readonly #folder: string;

  constructor({ path }: Pick<FolderRemote, 'path'>) {
    this.#folder = path;
    this.place = `the folder ${path}`;
  }

  async list(): Promise<RemoteObject[]> {
    return this.#trying(async () => {
      const objects: RemoteObject[] = [];
      for (const name of await readdir(this.#folder)) {
        if (name.endsWith(PARTIAL)) continue;
        const found = await stat(join(this.#folder, name)).catch(() => null);
        if (found?.isFile() === true) objects.push({ name, bytes: found.size });
      }
      return objects;
    });
  }

  async listFolders(): Promise<string[]> {
    return this.#trying(async () => {
      const entries = await readdir(this.#folder, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    });
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, _bytes: number, signal: AbortSignal): Promise<void> {
    const partial = join(this.#folder, `${name}${PARTIAL}`);
    const file = await this.#trying(() => open(partial, 'w', 0o600));
    try {
      try {
        for await (const chunk of content) {
          signal.throwIfAborted();
          await this.#trying(() => file.writeFile(chunk));
        }
        await this.#trying(() => file.sync());
      } finally {
        await file.close();
      }
      await this.#trying(async () => {
        renameSync(partial, join(this.#folder, name));
        await NODE_DISK.flushFolder(this.#folder);
      });
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async *get(name: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    try {
      yield* createReadStream(join(this.#folder, name), { signal, highWaterMark: 2 ** 18 });
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async remove(name: string): Promise<void> {
    await this.#trying(() => rm(join(this.#folder, name), { force: true }));
  }

  async abortUnfinished(isOwn: (name: string) => boolean): Promise<number> {
    return this.#trying(async () => {
      const left = (await readdir(this.#folder)).filter(
        (name) => name.endsWith(PARTIAL) && isOwn(name.slice(0, -PARTIAL.length)),
      );
      for (const name of left) await rm(join(this.#folder, name), { force: true });
      return left.length;
    });
  }

  close(): void {}

  async #trying<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  #failureOf(error: unknown): unknown {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || code === 'ABORT_ERR') return error;
    const advice =
      code === 'ENOENT' ? '; mount its disk, or make the folder' : code === 'ENOSPC' ? '; the disk is full' : '';
    return new RemoteFailure(`backup.remote: ${this.place} cannot be used (${code})${advice}`);
  }
}
