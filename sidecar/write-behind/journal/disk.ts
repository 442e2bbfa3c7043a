import { close, constants, fdatasync, fstat, fsync, open, read, readdir, rename, unlink, write } from 'node:fs';
import { dirname } from 'node:path';
import { ApiError } from '#protocol/errors.ts';
import { giveToOwner } from '#sidecar/file-owner.ts';
import { type FolderLock, lockFolder } from '#sidecar/folder-lock.ts';
import { makeFolder } from '#sidecar/make-folder.ts';

export type { FolderLock };

/** The journal's view of a disk, so that a simulation can have its own. Failures are errors with a `code`. */
export interface Disk {
  /** Makes a missing folder and its parents, readable by its owner only. */
  makeFolder(path: string): Promise<void>;
  /** Names of the files in the folder, in any order. */
  list(folder: string): Promise<string[]>;
  /** `create`: a new file, for its owner only; an error if it exists. `write` and `read`: an existing file. */
  open(path: string, mode: 'create' | 'write' | 'read'): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  /** Succeeds if the file is gone already. */
  remove(path: string): Promise<void>;
  /** Names that were made, renamed or removed in the folder are durable when this resolves. */
  flushFolder(folder: string): Promise<void>;
  /**
   * Keeps every other process out of the folder until the lock is released or the process ends in any way; null if
   * another process has the lock.
   */
  lock(folder: string): Promise<FolderLock | null>;
}

export interface DiskFile {
  /** Returns the number of bytes written: at least one, maybe not all. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Returns the number of bytes read; fewer than requested only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  size(): Promise<number>;
  /** Written bytes and the size of the file are durable when this resolves. After a failure it is unknown which are. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

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
    makeFolder(path);
  },
  list: (folder) => called((then) => readdir(folder, then)),
  async open(path, mode) {
    const file = new NodeFile(await called((then) => open(path, FLAGS[mode], OWNER_ONLY, then)));
    if (mode === 'create') giveToOwner(path);
    return file;
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

/** Continues if the disk writes only a part; throws if it writes nothing. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (written <= 0) throw new Error('the disk takes no more bytes');
    done += written;
  }
}

/** Returns fewer bytes than requested if the file ends before. */
export async function readAt(file: DiskFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = await file.read(bytes.subarray(done), position + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

export async function readWhole(disk: Disk, path: string): Promise<Buffer> {
  const file = await disk.open(path, 'read');
  try {
    return await readAt(file, 0, await file.size());
  } finally {
    await file.close();
  }
}

/** The file is there as a whole or not at all, whatever fails in between. */
export async function writeWhole(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  await disk.remove(temporary);
  const file = await disk.open(temporary, 'create');
  try {
    await writeAll(file, bytes, 0);
    await file.flush();
  } finally {
    await file.close();
  }
  await disk.rename(temporary, path);
  await disk.flushFolder(dirname(path));
}

/** The system's message without the name of the call: `ENOSPC: no space left on device`. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message ?? String(error);
  return message?.startsWith(`${code}: `) ? (message.split(', ')[0] ?? code) : code;
}

export function notAccepted(): ApiError {
  return new ApiError('write_buffer_unavailable', 'the journal cannot be written: the write was not accepted');
}

export function unknownOutcome(): ApiError {
  const message = 'the journal could not be flushed: the outcome of the write is unknown, it may be applied once';
  return new ApiError('write_buffer_unavailable', message);
}
