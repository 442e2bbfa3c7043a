import { close, constants, fdatasync, fstat, fsync, mkdir, open, read, readdir, rename, unlink, write } from 'node:fs';
import { lockFolder } from '#sidecar/folder-lock.ts';
import type { Disk, DiskFile } from './disk.ts';

const OWNER_ONLY = 0o600;
const FLAGS = {
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
  write: constants.O_RDWR,
  read: constants.O_RDONLY,
};

type Failure = NodeJS.ErrnoException | null;

/** Settles by a callback of `node:fs`: half the work of a `FileHandle` for each call. */
function called<Result>(call: (then: (error: Failure, result: Result) => void) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

function done(call: (then: (error: Failure) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}

class NodeFile implements DiskFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(bytes: Uint8Array, position: number): Promise<number> {
    return called((then) => write(this.#descriptor, bytes, 0, bytes.length, position, then));
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return called((then) => read(this.#descriptor, into, 0, into.length, position, then));
  }

  async size(): Promise<number> {
    return (await called<{ size: number }>((then) => fstat(this.#descriptor, then))).size;
  }

  flush(): Promise<void> {
    return done((then) => fdatasync(this.#descriptor, then));
  }

  close(): Promise<void> {
    return done((then) => close(this.#descriptor, then));
  }
}

/** The disk of this machine. */
export const NODE_DISK: Disk = {
  async makeFolder(path) {
    await called((then) => mkdir(path, { recursive: true, mode: 0o700 }, then));
  },
  list: (folder) => called((then) => readdir(folder, then)),
  async open(path, mode) {
    return new NodeFile(await called((then) => open(path, FLAGS[mode], OWNER_ONLY, then)));
  },
  rename: (from, to) => done((then) => rename(from, to, then)),
  async remove(path) {
    try {
      await done((then) => unlink(path, then));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  },
  async flushFolder(folder) {
    // Windows has no such call: its file system keeps names by itself.
    if (process.platform === 'win32') return;
    const descriptor = await called<number>((then) => open(folder, constants.O_RDONLY, 0, then));
    try {
      await done((then) => fsync(descriptor, then));
    } finally {
      await done((then) => close(descriptor, then));
    }
  },
  lock: (folder) => lockFolder(folder),
};
